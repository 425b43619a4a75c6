#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "supervisor/ipc/wire.h"
#include "supervisor/os/clock.h"

/// Which cell gives way to one that is wanted and for which there is no place. Pure.
namespace cellblock::gateway {

struct EvictionCandidate {
  std::uint32_t server = 0;
  bool is_ending = false;
  bool may_give_way = false;  ///< no session would miss it
  bool is_in_use = false;     ///< just now, and likely to be again
  bool is_spare = false;
  Time last_used;
};

struct WantedPlace {
  std::uint32_t server = 0;
  wire::StartRefusal refusal{};  ///< for want of which place
  bool is_awaited = true;        ///< if not, spare cells alone give way to it
  std::size_t claims = 0;        ///< starts that wait for such places already
};

struct Eviction {
  /// A place will become free by itself.
  bool is_under_way = false;
  std::optional<std::size_t> victim;  ///< index of the candidate; none: there is none
};

/// A spare cell goes first, then the least recently used one. The place of a cell that is ending
/// goes to the first waiter; later waiters need another.
Eviction eviction_for(const std::vector<EvictionCandidate>& cells, const WantedPlace& wanted);

/// A cell must have been quiet for this long before it may give way: sessions that take turns would
/// otherwise lose their cells between the introduction and the first request.
inline constexpr Milliseconds quiet_time{500};

/// Whether the place of a cell of server `freed` helps a start of `wanted` that was refused so.
bool is_place_for(std::uint32_t freed, std::uint32_t wanted, wire::StartRefusal refusal);

/// Whether it is about a place.
bool is_want_of_room(wire::StartRefusal refusal);

}  // namespace cellblock::gateway
