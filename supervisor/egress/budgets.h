#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

/// What one cell may ask and move through its egress helper. Pure.
namespace cellblock::egress {

/// What a cell may still move, both ways together, over all of its connections.
class ByteBudget {
 public:
  explicit ByteBudget(std::optional<std::uint64_t> bytes) : left_(bytes) {}

  std::size_t room(std::size_t wanted) const {
    return left_ ? static_cast<std::size_t>(std::min<std::uint64_t>(wanted, *left_)) : wanted;
  }
  void take(std::size_t bytes) {
    if (left_) *left_ -= std::min<std::uint64_t>(bytes, *left_);
  }
  bool is_used_up() const { return left_ && *left_ == 0; }

 private:
  std::optional<std::uint64_t> left_;
};

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
