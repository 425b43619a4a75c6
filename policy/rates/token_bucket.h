#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "policy/config/call_rules.h"
#include "policy/config/config.h"

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

/// How many calls of one user the audit log has room for, so that no user pushes the lines of
/// others out of it within a day. An attach and a cell's start and end count as a call each. Pure.
class LogShare {
 public:
  /// One user's calls may fill a quarter of the log in this time.
  static constexpr std::chrono::hours period{24};
  static constexpr std::uint64_t part = 4;
  /// What a gateway begins with, of a day's: a user whose gateways come and go gets no more by it.
  static constexpr std::uint64_t first_hours = 1;
  /// About those of the default log. A smaller one keeps less, rather than stop its users.
  static constexpr std::uint64_t fewest_calls = 140'000;

  /// No bound where the log only grows, where its one user is the only one, and where the
  /// configuration leaves users' calls unbounded.
  explicit LogShare(const Config& config);

  /// The configuration has changed. What was used is forgotten if the log's size is another.
  void reconfigure(const Config& config);

  /// Until there is room for a call; 0: there is.
  std::chrono::nanoseconds wait(Instant now);
  void take(Instant now);
  /// In one period; 0: no bound.
  std::uint64_t calls() const { return calls_; }

 private:
  std::chrono::nanoseconds interval() const;
  Instant full(Instant now) const;

  std::uint64_t calls_ = 0;
  std::optional<Instant>
      full_;  ///< when all of the share will be there; no value: nothing asked yet
};

}  // namespace cellblock
