#pragma once

#include <optional>
#include <string_view>

/// The kernel's numbers for names on this architecture: those of the headers this was built with,
/// and those that are newer.
namespace cellblock {

std::optional<int> call_number(std::string_view name);
std::optional<std::string_view> call_name(int number);  ///< static storage

}  // namespace cellblock
