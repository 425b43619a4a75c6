#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

/// What the command's flags say of themselves, in other forms. Nothing here is written twice.
namespace cellblock::cli {

/// cellblock(1), in the language of man.
std::string manual_page(const CLI::App& app, std::string_view version);

/// For bash: commands, their flags, and the words that a flag or the inspector's command may be.
std::string bash_completion(const CLI::App& app);

}  // namespace cellblock::cli
