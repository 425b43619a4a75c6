#pragma once

#include <span>

#include "client/cli/common/context.h"
#include "client/cli/table/parser.h"

/// What main() of `cellblock` and of `cellblock-tools` have in common.
namespace cellblock::cli {

/// Reads the command line by the table of all commands, and has the command carried out.
Exit run_command_line(std::span<char* const> arguments,
                      Exit (*perform)(const Context& context, const CommandLine& line));

/// Runs all of a program. The result is its exit code: what it printed has been written, or that
/// has failed.
int run_program(std::span<char* const> arguments, Exit (*run)(std::span<char* const> arguments));

}  // namespace cellblock::cli
