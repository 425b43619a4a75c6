#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace cellblock::launcher {

/// So many a second, and up to `burst` at once. Time is what the caller says it is, and may stand
/// still but not go back. Pure.
class RateBudget {
 public:
  RateBudget(std::uint32_t per_second, std::uint32_t burst)
      : per_second_(per_second), most_(std::int64_t{burst} * unit), left_(most_) {}

  bool take(std::chrono::milliseconds now) {
    refill(now);
    if (left_ < unit) return false;
    left_ -= unit;
    return true;
  }

 private:
  static constexpr std::int64_t unit =
      1000;  // in thousandths: a millisecond may earn less than one

  void refill(std::chrono::milliseconds now) {
    const std::int64_t passed = std::clamp<std::int64_t>((now - last_).count(), 0, 3'600'000);
    left_ = std::min(most_, left_ + passed * per_second_);
    last_ = now;
  }

  std::int64_t per_second_;
  std::int64_t most_;
  std::int64_t left_;
  std::chrono::milliseconds last_{0};
};

}  // namespace cellblock::launcher
