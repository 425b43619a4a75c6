#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

/// How long a call may take. Pure: the time is handed in.
namespace cellblock::client {

class CallClock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  CallClock() = default;
  /// Sent `now`. `at_most` below `timeout` is the deadline; 0: there is none but `timeout`.
  CallClock(TimePoint now, Duration timeout, Duration at_most)
      : timeout_(timeout),
        last_(after(now, at_most > Duration(0) ? at_most : timeout)),
        deadline_(std::min(after(now, timeout), last_)) {}

  TimePoint deadline() const { return deadline_; }

  /// Whether it rises; then the call has `timeout` from now on, and never beyond the last moment.
  bool progressed(double progress, TimePoint now) {
    if (!(progress > progress_)) return false;
    progress_ = progress;
    deadline_ = std::max(deadline_, std::min(after(now, timeout_), last_));
    return true;
  }

  /// The furthest point that the clock can name, for what would overflow it.
  static TimePoint after(TimePoint now, Duration timeout) {
    const auto furthest = std::chrono::duration_cast<Duration>(TimePoint::max() - now);
    return timeout >= furthest ? TimePoint::max() : now + timeout;
  }

 private:
  Duration timeout_{};
  TimePoint last_;
  TimePoint deadline_;
  double progress_ = -std::numeric_limits<double>::infinity();
};

}  // namespace cellblock::client
