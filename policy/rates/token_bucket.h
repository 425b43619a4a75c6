#pragma once

#include <chrono>

#include "policy/config/call_rules.h"

namespace cellblock {

/// A moment, always handed in.
using Instant = std::chrono::steady_clock::time_point;

/// How often something may be done. Kept as the one moment at which the bucket will be full again
/// (the generic cell rate algorithm): nothing has to be filled as time goes by. Times that go
/// backwards only make it stricter.
class TokenBucket {
 public:
  explicit TokenBucket(const Rate& rate);

  /// Until there is a token; 0: there is one.
  std::chrono::nanoseconds wait(Instant now) const;
  /// Only where wait() says 0.
  void take(Instant now);

 private:
  std::chrono::nanoseconds interval_;   ///< of tokens
  std::chrono::nanoseconds tolerance_;  ///< how far ahead of now a bucket may be that has one left
  Instant full_{};
};

}  // namespace cellblock
