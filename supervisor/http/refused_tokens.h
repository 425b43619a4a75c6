#pragma once

#include <string>
#include <vector>

#include "policy/rates/refused_attempts.h"
#include "supervisor/os/clock.h"

namespace cellblock::http {

/// The log's lines about bearer tokens that are none of cellblock's: by address, a few a minute and
/// a count. Of the token itself no line has a byte. Pure.
class RefusedTokens {
 public:
  static constexpr gateway::Milliseconds span{60'000};

  /// Lines to be written now; the first of a span tells what the one before left out.
  std::vector<std::string> add(const std::string& address, gateway::Time now);
  /// At a steady pace: what was left out, when the span is over.
  std::vector<std::string> tick(gateway::Time now);

 private:
  RefusedAttempts attempts_;
  gateway::Time began_{};
};

}  // namespace cellblock::http
