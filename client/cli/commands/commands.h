#pragma once

#include <span>

#include "client/cli/common/context.h"
#include "client/cli/common/server_request.h"
#include "client/cli/table/command.h"
#include "client/cli/table/words.h"

/// A row for each command, which stands in the source that carries it out, and the table of them
/// all.
namespace cellblock::cli {

Command add_command();
Command approve_command();
Command audit_command();
Command call_command();
Command check_command();
Command connect_command();
Command disable_command();
Command doctor_command();
Command enable_command();
Command errors_command();
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
Command remove_command();
Command restart_command();
Command run_command();
Command servers_command();
Command status_command();
Command stop_command();
Command tools_command();
Command top_command();
Command update_command();
Command version_command();

/// `cellblock status --watch`, and `cellblock top` as it was called: of the server that is named,
/// or of all.
extern const Option interval_option;
extern const Option sort_option;
extern const Option once_option;
Exit run_top(const Context& context, const Words& words);

/// Tries from inside that server's cell what it should not do: `cellblock explain NAME --prove`.
Exit prove(const Context& context, const ServerRequest& request);

/// The program: the options that hold with every command, and all commands in the order of
/// `--help`.
Command program();

/// `cellblock __complete WORD...`, which the shells' completions run: `words` are all behind the
/// program's name up to the cursor. Prints a line for each word that may stand there
/// ("WORD\tWHAT"), or ":files" or ":directories" where the shell finds paths. Asks the daemon for
/// names, and ends the process where it does not answer in time. Prints no error.
Exit complete(const Command& program, std::span<char* const> words);

}  // namespace cellblock::cli
