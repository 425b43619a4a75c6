#include "policy/rates/token_bucket.h"

#include <algorithm>

namespace cellblock {

using std::chrono::nanoseconds;

// Rounded up: never more than was allowed.
TokenBucket::TokenBucket(const Rate& rate)
    : interval_((nanoseconds(rate.period).count() + rate.count - 1) / rate.count),
      tolerance_(interval_ * (rate.burst - 1)) {}

nanoseconds TokenBucket::wait(Instant now) const {
  return std::max(nanoseconds{0}, full_ - now - tolerance_);
}

void TokenBucket::take(Instant now) { full_ = std::max(full_, now) + interval_; }

}  // namespace cellblock
