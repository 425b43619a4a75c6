#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace cellblock::daemon {

/// The delay before an ended helper is started again: doubles with each start, and begins anew
/// after a long life. Pure.
class RestartDelay {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::milliseconds first{100};
  static constexpr std::chrono::milliseconds longest{10'000};
  /// A helper that lived this long did not die of the cause that killed the previous one.
  static constexpr std::chrono::milliseconds healthy_life{60'000};

  void started(Time now) { started_at_ = now; }
  void ended(Time now) {
    const auto since = std::exchange(started_at_, std::nullopt);
    if (since && now - *since >= healthy_life) reset();
  }
  /// Of the next start; the one after it waits twice as long.
  std::chrono::milliseconds take() { return std::exchange(delay_, std::min(delay_ * 2, longest)); }
  void reset() { delay_ = first; }

 private:
  std::chrono::milliseconds delay_ = first;
  std::optional<Time> started_at_;  ///< nullopt: the helper does not run
};

}  // namespace cellblock::daemon
