#pragma once

#include <cstdint>

#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// How many audit records what one cell, or one user, does may make, so that nobody can fill the
/// log or slow a user's calls down with it. Pure.
class AuditBudget {
 public:
  static constexpr std::uint32_t burst = 20;
  static constexpr Milliseconds one_per{500};

  /// For all that one user's cells and hosts cause, of one sort.
  static constexpr std::uint32_t user_burst = 500;
  static constexpr Milliseconds one_of_user_per{2'000};
  static AuditBudget of_user() { return {user_burst, one_of_user_per}; }

  AuditBudget() = default;
  AuditBudget(std::uint32_t most, Milliseconds interval) : burst_(most), one_per_(interval) {}

  /// False: no record is to be written now.
  [[nodiscard]] bool spend(Time now);
  bool has_room(Time now) const;
  bool is_full(Time now) const { return full_at_ <= now; }

 private:
  std::uint32_t burst_ = burst;
  Milliseconds one_per_ = one_per;
  Time full_at_{};  ///< when all of it is there again
};

}  // namespace cellblock::gateway
