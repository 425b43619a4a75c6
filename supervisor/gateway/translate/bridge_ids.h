#pragma once

#include <cstdint>
#include <string_view>

#include "supervisor/gateway/message/upstream_ids.h"

namespace cellblock::gateway {

/// The ids that a bridge gives its own requests, in order from 1. They need not be unguessable:
/// the conversation behind the bridge puts its own in their place.
class BridgeIds {
 public:
  std::uint64_t next() { return ++last_; }

 private:
  std::uint64_t last_ = 0;
};

/// 0: none of a bridge's.
inline std::uint64_t bridge_id(std::string_view raw) { return parse_upstream_id(raw); }

}  // namespace cellblock::gateway
