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

namespace {

// A call and its end: 816 bytes as a rule, up to 1,647 with names as long as they may be. Arguments
// in plain are cut at 4 KiB, and escaped.
std::uint64_t bytes_of_call(const AuditRules& rules) {
  return rules.arguments == AuditArguments::redacted ? 6'400 : 1'792;
}

std::uint64_t calls_of(const Config& config) {
  const AuditRules& rules = config.audit;
  if (rules.keep == 0 || config.mode == RunMode::user || !config.calls.user.rate) return 0;
  const std::uint64_t whole = rules.max_bytes * (rules.keep + 1);
  return std::max(whole / LogShare::part / bytes_of_call(rules), LogShare::fewest_calls);
}

}  // namespace

LogShare::LogShare(const Config& config) : calls_(calls_of(config)) {}

void LogShare::reconfigure(const Config& config) {
  const std::uint64_t calls = calls_of(config);
  if (calls != calls_) full_.reset();
  calls_ = calls;
}

nanoseconds LogShare::interval() const {
  return nanoseconds(period) / static_cast<std::int64_t>(calls_);
}

Instant LogShare::full(Instant now) const {
  return full_ ? std::max(*full_, now) : now + period - std::chrono::hours(first_hours);
}

nanoseconds LogShare::wait(Instant now) {
  if (calls_ == 0) return nanoseconds{0};
  full_ = full(now);
  return std::max(nanoseconds{0}, *full_ + interval() - now - period);
}

void LogShare::take(Instant now) {
  if (calls_ == 0) return;
  full_ = full(now) + interval();
}

}  // namespace cellblock
