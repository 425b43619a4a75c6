#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/run/rate_budget.h"

namespace cellblock::launcher {

/// Refused calls of one cell that nobody was told of yet, alike ones as one. Bounded: what is
/// unlike everything in a full table is counted without its name (syscall_number -1). Pure.
class DenialCounts {
 public:
  static constexpr std::size_t most_kinds = 32;
  static constexpr std::uint32_t records_per_second = 10;

  void add(const wire::Denial& denial);

  /// The longest waiting record, when one more may be told now.
  std::optional<wire::Denial> due(std::chrono::milliseconds now);
  /// Whatever the rate, for a cell that has ended.
  std::optional<wire::Denial> next();
  bool empty() const { return waiting_.empty(); }

 private:
  std::vector<wire::Denial> waiting_;
  RateBudget records_{records_per_second, records_per_second};
};

}  // namespace cellblock::launcher
