#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "supervisor/gateway/io/clock.h"
#include "supervisor/kernel/wire.h"

/// Which cell gives way to one that is wanted and for which there is no place. Pure.
namespace cellblock::gateway {

struct EvictionCandidate {
  std::uint32_t server = 0;
  bool is_ending = false;
  bool may_give_way = false;  ///< nobody would miss it
  bool is_spare = false;
  Time last_used;
};

struct Eviction {
  /// A place will be free without anybody's doing.
  bool is_under_way = false;
  std::optional<std::size_t> victim;  ///< index of the candidate; none: there is none
};

/// `refusal`: for want of which place. A spare one goes first, then the one that was not used for
/// the longest time.
Eviction eviction_for(const std::vector<EvictionCandidate>& cells, std::uint32_t wanted_server,
                      wire::StartRefusal refusal);

/// Whether it is about a place.
bool is_want_of_room(wire::StartRefusal refusal);

}  // namespace cellblock::gateway
