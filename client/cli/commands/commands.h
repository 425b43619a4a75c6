#pragma once

#include <span>

#include "client/cli/common/context.h"
#include "client/cli/common/server_request.h"
#include "client/cli/table/command.h"
#include "client/cli/table/words.h"

/// A row for each command that `cellblock` itself carries out, which stands in the source that
/// does; and the table of all commands.
namespace cellblock::cli {

Command approve_command();
Command audit_command();
Command call_command();
Command check_command();
Command connect_command();
Command disable_command();
Command enable_command();
Command errors_command();
Command explain_command();
Command forget_command();
Command home_command();
Command logs_command();
Command pin_command();
Command pinned_command();
Command probe_command();
Command reload_command();
Command restart_command();
Command status_command();
Command stop_command();
Command tools_command();
Command version_command();

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
