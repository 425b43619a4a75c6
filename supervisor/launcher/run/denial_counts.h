#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "supervisor/ipc/wire.h"

/// How refused calls are told of, so that a server that makes many of them costs little. Pure.
namespace cellblock::launcher {

/// Permits so many events a second, and up to `burst` at once. The caller gives the time, which may
/// stand still but not go back. Pure.
class RateBudget {
 public:
  RateBudget(std::uint32_t per_second, std::uint32_t burst)
      : per_second_(per_second), most_(std::int64_t{burst} * unit), left_(most_) {}

  bool take(std::chrono::milliseconds now) {
    if (!has_one(now)) return false;
    left_ -= unit;
    return true;
  }

  /// Takes one from both budgets, or from neither.
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

/// Refused calls of one cell that are not reported yet, alike ones as one. Bounded: what is
/// unlike everything in a full table is counted without its name (syscall_number -1). Pure.
class DenialCounts {
 public:
  static constexpr std::size_t most_kinds = 32;
  static constexpr std::uint32_t records_per_second = 10;

  void add(const wire::Denial& denial);

  /// The longest waiting record, when one more may be told now.
  std::optional<wire::Denial> due(std::chrono::milliseconds now);
  /// For a cell that has ended: ignores the rate.
  std::optional<wire::Denial> next();
  bool empty() const { return waiting_.empty(); }

 private:
  std::vector<wire::Denial> waiting_;
  RateBudget records_{records_per_second, records_per_second};
};

}  // namespace cellblock::launcher
