#pragma once

#include <cstdint>

#include "supervisor/gateway/io/clock.h"

namespace cellblock::gateway {

/// How many audit records what one cell does may make, so that no server can fill the log or slow
/// its user's calls down with it. Pure.
class AuditBudget {
 public:
  static constexpr std::uint32_t burst = 20;
  static constexpr Milliseconds one_per{500};

  /// False: no record is to be written now.
  [[nodiscard]] bool spend(Time now);

 private:
  Time full_at_{};  ///< when all of `burst` is there again
};

}  // namespace cellblock::gateway
