#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// What shells complete: commands, their options, and what these may be, from what the flags say of
/// themselves.
namespace cellblock::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace cellblock::cli
