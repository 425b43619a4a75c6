#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/base/result.h"

/// What an administrator says at a switch: one line, `disable` or `enable`, and after a space, if
/// he likes, why. To connect says nothing: whoever gets a program of root's to connect somewhere
/// must not switch anything by it. Pure.
namespace cellblock::daemon {

enum class AdminSwitch : std::uint8_t { disable, enable };
std::string_view name_of(AdminSwitch which);  ///< "disable"

inline constexpr std::size_t longest_reason = 256;
/// With its newline.
inline constexpr std::size_t longest_request = sizeof("disable ") - 1 + longest_reason + 1;

/// The reason, "" without one, of a line without its newline that was said at this switch. An error
/// is a sentence for whoever said it.
Result<std::string> switch_reason(AdminSwitch which, std::string_view line);

}  // namespace cellblock::daemon
