#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "supervisor/gateway/message/json_tree.h"

/// What a host hears of a server besides answers: lists that change, resources, logs.
namespace cellblock::gateway {

/// What a host wants to hear of a server, beside answers.
enum class Listening : std::uint8_t {
  nothing,
  lists,  ///< that one has changed, and nothing else
  more,
};

// RFC 5424's severities, as MCP names them; a lower number says more.

inline constexpr std::array<std::string_view, 8> log_levels = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

/// Nothing: it is none.
inline std::optional<unsigned> log_level_of(std::string_view name) {
  const auto* const found = std::ranges::find(log_levels, name);
  if (found == log_levels.end()) return std::nullopt;
  return static_cast<unsigned>(found - log_levels.begin());
}

/// Whether an update of `updated` is for who subscribed to `wanted`: itself, or a resource inside
/// it.
inline bool is_resource_within(std::string_view updated, std::string_view wanted) {
  if (!updated.starts_with(wanted)) return false;
  if (updated.size() == wanted.size() || wanted.ends_with('/')) return true;
  return std::string_view("/?#").find(updated[wanted.size()]) != std::string_view::npos;
}

/// Whether the capability `kind` says `what` ("listChanged", "subscribe").
inline bool offers(const Json& capabilities, const char* kind, const char* what) {
  const Json* found = object_in(capabilities, kind);
  return found != nullptr && says(*found, what);
}

}  // namespace cellblock::gateway
