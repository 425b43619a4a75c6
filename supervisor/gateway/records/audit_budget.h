#pragma once

#include <cstdint>

#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// How many audit records what one cell does may make, so that no server can fill the log or slow
/// its user's calls down with it. Pure.
class AuditBudget {
 public:
  static constexpr std::uint32_t burst = 20;
  static constexpr Milliseconds one_per{500};

  AuditBudget() = default;
  AuditBudget(std::uint32_t most, Milliseconds interval) : burst_(most), one_per_(interval) {}

  /// False: no record is to be written now.
  [[nodiscard]] bool spend(Time now);
  bool is_full(Time now) const { return full_at_ <= now; }

 private:
  std::uint32_t burst_ = burst;
  Milliseconds one_per_ = one_per;
  Time full_at_{};  ///< when all of it is there again
};

}  // namespace cellblock::gateway
