#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>

#include "client/cli/common/context.h"
#include "client/cli/terminal/exit_code.h"

namespace cellblock::cli {

/// Declares all flags and commands. Parsing then sets `command` to what was asked for.
void declare(CLI::App& app, std::function<Exit()>& command);

/// Parses the command line, words in brackets whole. Throws CLI::ParseError.
void parse(CLI::App& app, std::span<char* const> words);

/// Prints help or the mistake; the exit code. `output`: as far as it was understood.
int exit_after(const CLI::App& app, const CLI::ParseError& stop, Output output);

}  // namespace cellblock::cli
