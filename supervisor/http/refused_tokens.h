#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/rates/refused_attempts.h"
#include "supervisor/os/clock.h"

namespace cellblock::http {

/// Requests with a bearer token that is none of cellblock's. Of the token itself nothing is kept.
struct RefusedToken {
  std::string address;  ///< empty: several
  std::uint64_t requests = 1;
  bool is_sum = false;  ///< of those that were not told one by one
  bool operator==(const RefusedToken&) const = default;
};

/// The log's line about it.
std::string text_of(const RefusedToken& refused);

/// What is told of such requests: by address, a few a minute and a count. Pure.
class RefusedTokens {
 public:
  static constexpr gateway::Milliseconds span{60'000};

  /// To be told now; the first of a span tells what the one before left out.
  std::vector<RefusedToken> add(const std::string& address, gateway::Time now);
  /// At a steady pace: what was left out, when the span is over.
  std::vector<RefusedToken> tick(gateway::Time now);

 private:
  RefusedAttempts attempts_;
  gateway::Time began_{};
};

}  // namespace cellblock::http
