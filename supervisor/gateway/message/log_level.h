#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

/// RFC 5424's severities, as MCP names them; a lower number says more.
namespace cellblock::gateway {

inline constexpr std::array<std::string_view, 8> log_levels = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

/// Nothing: it is none.
inline std::optional<unsigned> log_level_of(std::string_view name) {
  const auto* const found = std::ranges::find(log_levels, name);
  if (found == log_levels.end()) return std::nullopt;
  return static_cast<unsigned>(found - log_levels.begin());
}

}  // namespace cellblock::gateway
