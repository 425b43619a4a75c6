#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "supervisor/ipc/wire.h"

namespace cellblock::egress {

/// What the gateway is to be told, at a rate that no server can drive up. Alike events that wait
/// become one with a count; when too many different ones of a kind wait, the rest of that kind and
/// reason become one without a host. Nothing is lost from the counts.
///
/// What the rules name exactly has room of its own: a heap of names below a suffix does not hide
/// it.
class EventQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;

  enum class Room : std::uint8_t { shared, named };

  static constexpr std::size_t max_waiting = 64;   ///< of each kind, in the shared room
  static constexpr std::size_t max_named = 256;    ///< likewise, of those with room of their own
  static constexpr std::uint32_t per_second = 20;  ///< of each kind, and as many at once

  void add(const wire::EgressEvent& event, Room room = Room::shared);

  /// The next one that may be sent now, which stays until it is taken.
  const wire::EgressEvent* next(Time now);
  void take(Time now);

  /// The cell has ended and causes no further events: all of them may be sent at once.
  void lift_rate() { rate_is_lifted_ = true; }

  /// When the first of those that wait may be sent; none if nothing waits.
  std::optional<Time> due() const;

 private:
  static constexpr std::size_t kinds = 5;
  static constexpr std::chrono::milliseconds interval{1000 / per_second};

  struct Waiting {
    wire::EgressEvent event;
    Room room;
  };

  bool merge(const wire::EgressEvent& event);
  bool has_room(wire::EgressKind kind, Room room) const;
  Time& ready_at(wire::EgressKind kind) { return ready_.at(static_cast<std::size_t>(kind)); }

  std::deque<Waiting> waiting_;
  bool rate_is_lifted_ = false;
  std::array<Time, kinds> ready_{};  ///< when a kind's credit is full again, less the credit
};

}  // namespace cellblock::egress
