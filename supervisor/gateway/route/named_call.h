#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace cellblock::gateway {

/// Of the ways that a host's messages can go, one for each era, the one on which the call with this
/// id (raw JSON, the host's) is in flight. A notification about it need not say its era. Null:
/// none, or both.
template <class Way>
Way* way_of_call(const std::vector<std::unique_ptr<Way>>& ways, std::string_view id) {
  Way* found = nullptr;
  for (const auto& way : ways) {
    if (!way->is_in_flight(id)) continue;
    if (found != nullptr) return nullptr;
    found = way.get();
  }
  return found;
}

}  // namespace cellblock::gateway
