#pragma once

#include <cstdint>

namespace cellblock::gateway {

/// What a session and a server sent each other, counted.
struct Traffic {
  std::uint64_t calls = 0;            ///< requests sent to the server
  std::uint64_t late_answers = 0;     ///< to calls that were cancelled
  std::uint64_t foreign_answers = 0;  ///< to calls that never were
  /// Progress and cancellations that name nothing in flight, and what is no notification of MCP.
  std::uint64_t stray_notifications = 0;

  Traffic& operator+=(const Traffic& more) {
    calls += more.calls, late_answers += more.late_answers;
    foreign_answers += more.foreign_answers, stray_notifications += more.stray_notifications;
    return *this;
  }
};

}  // namespace cellblock::gateway
