#pragma once

#include <chrono>
#include <optional>

#include "policy/config/call_rules.h"
#include "policy/rates/token_bucket.h"

namespace cellblock {

/// Whether a server could go on: it cannot while it waits for an answer of the host's to a question
/// of its own (an elicitation, say).
enum class CallClock : std::uint8_t { runs, stands };

/// When one call has waited long enough for its answer. Pure.
class CallDeadline {
 public:
  /// Never.
  CallDeadline() = default;
  CallDeadline(const CallTime& time, Instant began);

  /// The server says that it goes on: its time begins anew.
  void extend(Instant now);
  /// The clock has stood for so long.
  void hold_up(std::chrono::nanoseconds time);

  bool is_over(Instant now, CallClock clock) const;
  /// When to look again; no value: not for this.
  std::optional<Instant> next(CallClock clock) const;

  /// Which of the two bounds it is that is over.
  bool is_at_longest(Instant now) const { return last_ && now >= *last_; }

 private:
  void set_due(Instant due);

  std::chrono::milliseconds each_{};
  std::optional<Instant> due_;   ///< never after last_
  std::optional<Instant> last_;  ///< runs while the clock stands, so that nothing is for ever
};

}  // namespace cellblock
