#pragma once

#include "client/cli/table/command.h"

/// A row for each command, which stands in the source that carries it out, and the table of them
/// all.
namespace cellblock::cli {

Command approve_command();
Command audit_command();
Command call_command();
Command check_command();
Command connect_command();
Command disable_command();
Command enable_command();
Command explain_command();
Command export_command();
Command home_command();
Command import_command();
Command inspect_command();
Command learn_command();
Command logs_command();
Command pin_command();
Command probe_command();
Command reload_command();
Command restart_command();
Command status_command();
Command stop_command();
Command tools_command();
Command top_command();
Command version_command();

/// The program: the options that hold with every command, and all commands in the order of
/// `--help`.
Command program();

}  // namespace cellblock::cli
