#pragma once

#include <string_view>

namespace cellblock::gateway {

/// Whether an update of `updated` is for who subscribed to `wanted`: itself, or a resource inside
/// it.
inline bool is_resource_within(std::string_view updated, std::string_view wanted) {
  if (!updated.starts_with(wanted)) return false;
  if (updated.size() == wanted.size() || wanted.ends_with('/')) return true;
  return std::string_view("/?#").find(updated[wanted.size()]) != std::string_view::npos;
}

}  // namespace cellblock::gateway
