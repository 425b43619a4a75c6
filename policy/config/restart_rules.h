#pragma once

#include <chrono>
#include <cstdint>

/// When a server that failed may start again: values of the configuration.
namespace cellblock {

enum class RestartWhen : std::uint8_t {
  on_failure,  ///< after a pause, as often as the budget gives
  never,       ///< after a failure only when somebody says so (`cellblock restart`)
};

struct RestartRules {
  RestartWhen when = RestartWhen::on_failure;
  /// Before the start that follows a failure; twice as long after each further one in a row.
  std::chrono::milliseconds pause{250};
  std::chrono::milliseconds max_pause{30'000};
  /// For how long a start waits for the end of a pause. One that would wait longer is refused.
  std::chrono::milliseconds patience{5'000};
  /// So many failures within `window`, whatever went well between them, and it rests.
  std::uint32_t failures = 10;
  std::chrono::milliseconds window{600'000};
  std::chrono::milliseconds rest{60'000};
  /// After each rest one start is tried. When so many in a row have failed, nothing is tried any
  /// more.
  std::uint32_t trials = 5;
  bool operator==(const RestartRules&) const = default;
};

}  // namespace cellblock
