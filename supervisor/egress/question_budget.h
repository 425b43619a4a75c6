#pragma once

#include <algorithm>
#include <chrono>

namespace cellblock::egress {

/// How often a cell may ask the host's resolvers: so many a second, and a burst at once. Time is
/// what the caller says it is. Pure.
class QuestionBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr int per_second = 50;
  static constexpr int burst = 200;

  bool take(Time now) {
    const Time ready = std::max(full_, now - interval * (burst - 1));
    if (ready > now) return false;
    full_ = ready + interval;
    return true;
  }

 private:
  static constexpr std::chrono::milliseconds interval{1000 / per_second};

  Time full_;  ///< when the burst is whole again, less the burst
};

}  // namespace cellblock::egress
