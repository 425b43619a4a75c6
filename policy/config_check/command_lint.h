#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cellblock {

/// In an image everything that could run was checked, so a shell or `env` may find it by name.
enum class CommandPlace { host, image };

/// Why a command does not name the program that will really run: it downloads it, is a shell that
/// reads it, or looks for it by name. With what to do instead. None: it names it.
std::optional<std::string> habit_problem(const std::vector<std::string>& command,
                                         CommandPlace place = CommandPlace::host);

}  // namespace cellblock
