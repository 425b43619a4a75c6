#pragma once

#include "client/cli/table/command.h"

/// A server that is installed, tried and declared.
namespace cellblock::cli {

extern const Option new_name;
extern const Option host_line;
extern const Option variable_option;
extern const Option setting_option;
extern const Option read_option;
extern const Option write_option;
extern const Option egress_option;
extern const Option allow_option;
extern const Option scripts_option;
extern const Option yes_option;

Command add_command();

}  // namespace cellblock::cli
