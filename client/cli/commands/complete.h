#pragma once

#include <span>

#include "client/cli/table/command.h"

namespace cellblock::cli {

/// `cellblock __complete WORD...`, which the shells' completions run: `words` are all behind the
/// program's name up to the cursor. Prints a line for each word that may stand there
/// ("WORD\tWHAT"), or ":files" or ":directories" where the shell finds paths. Asks the daemon for
/// names, and ends the process where it does not answer in time. Prints no error.
Exit complete(const Command& program, std::span<char* const> words);

}  // namespace cellblock::cli
