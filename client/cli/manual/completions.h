#pragma once

#include <string>

#include "client/cli/table/command.h"

/// What shells complete: commands, their options, and what these may be, from what the flags say of
/// themselves.
namespace cellblock::cli {

std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);
std::string fish_completion(const Command& program);

}  // namespace cellblock::cli
