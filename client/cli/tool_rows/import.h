#pragma once

#include "client/cli/table/command.h"

/// Servers of hosts' configurations.
namespace cellblock::cli {

extern const Option imported_file;
extern const Option import_from;
extern const Option install_option;
extern const Option installed_for;
extern const Option passed_on;
extern const Option named_range_option;
extern const Option into_host_option;
extern const Option undo_option;
extern const Option without_asking;

Command import_command();

}  // namespace cellblock::cli
