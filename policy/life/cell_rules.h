#pragma once

#include <chrono>
#include <optional>

/// How long the cells of a server live, beside failures (restart_rules.h): values of the
/// configuration.
namespace cellblock {

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
