#pragma once

#include <cstdint>

namespace cellblock {

/// What a host's tools/list has.
enum class ToolListing : std::uint8_t {
  all,     ///< every tool that it may use
  search,  ///< two tools of cellblock's that find the others and call them, and `always_listed`
};

/// All servers as one, for hosts that attach to none.
struct AggregateRules {
  ToolListing tools = ToolListing::all;  ///< where the host does not choose
  bool operator==(const AggregateRules&) const = default;
};

}  // namespace cellblock
