#include "policy/rates/call_deadline.h"

#include <algorithm>

namespace cellblock {

CallDeadline::CallDeadline(const CallTime& time, Instant began) {
  if (time.longest) last_ = began + *time.longest;
  if (!time.deadline) return;
  each_ = *time.deadline;
  set_due(began + each_);
}

void CallDeadline::extend(Instant now) {
  if (due_) set_due(std::max(*due_, now + each_));
}

void CallDeadline::hold_up(std::chrono::nanoseconds time) {
  if (due_) set_due(*due_ + time);
}

void CallDeadline::set_due(Instant due) { due_ = last_ ? std::min(due, *last_) : due; }

bool CallDeadline::is_over(Instant now, CallClock clock) const {
  const auto end = next(clock);
  return end && now >= *end;
}

std::optional<Instant> CallDeadline::next(CallClock clock) const {
  return clock == CallClock::runs && due_ ? due_ : last_;
}

}  // namespace cellblock
