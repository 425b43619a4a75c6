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
    if (!has_one(now)) return false;
    left_ -= unit;
    return true;
  }

  /// From both or from neither: nobody pays for what the other has none left for.
  static bool take_both(RateBudget& one, RateBudget& other, std::chrono::milliseconds now) {
    return one.has_one(now) && other.take(now) && one.take(now);
  }

 private:
  static constexpr std::int64_t unit =
      1000;  // in thousandths: a millisecond may earn less than one

  bool has_one(std::chrono::milliseconds now) {
    refill(now);
    return left_ >= unit;
  }

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
