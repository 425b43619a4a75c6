#pragma once

#include <expected>
#include <span>

#include "client/cli/table/command.h"
#include "client/cli/table/words.h"

/// Reads the command line by a table of commands.
namespace cellblock::cli {

/// What every command and the program itself has: the parser carries them out.
inline constexpr Option help_option = flag("-h,--help", "Print this help message and exit");
inline constexpr Option version_option =
    flag("--version", "Display program version information and exit");

struct CommandLine {
  const Command* command = nullptr;  ///< the one to be run, in the table
  Words words;
};

/// `program`: its options hold with every command; it has to outlive the result. `arguments`: as
/// main() gets them. Without a command to be run, help or the mistake has been printed, and the
/// result is the exit code.
std::expected<CommandLine, Exit> read_command_line(const Command& program,
                                                   std::span<char* const> arguments);

}  // namespace cellblock::cli
