#pragma once

#include "client/cli/table/command.h"

/// Servers that were added.
namespace cellblock::cli {

extern const Option added_name;
extern const Option other_bundle;
extern const Option without_question;
extern const Option home_option;
extern const Option back_option;
extern const Option audit_option;
extern const Option sbom_option;

Command servers_command();
Command update_command();
Command remove_command();

}  // namespace cellblock::cli
