#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

/// How long the cells of a server live, beside failures (restart_rules.h): values of the
/// configuration.
namespace cellblock {

struct StartRules {
  bool eager = false;      ///< a user's first session starts it; else a first request that needs it
  std::uint32_t warm = 0;  ///< cells of a user kept ready, in which nothing has been said yet
  bool operator==(const StartRules&) const = default;
};

struct StopRules {
  /// Without a call, an open stream or an answer that is missing; none: never.
  std::optional<std::chrono::milliseconds> idle = std::chrono::milliseconds{1'800'000};
  bool operator==(const StopRules&) const = default;
};

struct HealthRules {
  /// After so long without a word of the server it is asked; none: never.
  std::optional<std::chrono::milliseconds> ping;
  std::chrono::milliseconds timeout{10'000};  ///< for its answer
  bool operator==(const HealthRules&) const = default;
};

}  // namespace cellblock
