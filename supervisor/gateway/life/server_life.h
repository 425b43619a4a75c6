#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "policy/life/restart_rules.h"
#include "supervisor/gateway/io/clock.h"

/// When a server of one user may start, by how it fared before. Pure: it says what to do with a
/// start, held_starts.h does it.
///
///     good --failure--> pausing --time, next start--> trying --answer--> good
///       \________________/   ^________________________/ |  failure
///        the budget is spent: resting --time, next start--> trying
///        too many trials failed, or restart.when = "never": quarantined, until told
///
/// A cell that fails while it is not good takes nothing from it: it was started before.
namespace cellblock::gateway {

enum class LifeState : std::uint8_t { good, pausing, resting, trying, quarantined };

std::string_view name_of(LifeState state);  ///< as in `cellblock status`

/// Names one start, from the question until its cell has answered or is gone.
using StartKey = std::uint64_t;

enum class StartChoice : std::uint8_t {
  go,
  wait,    ///< ask again at `at`, or after the next event
  refuse,  ///< until told
};

struct StartAnswer {
  StartChoice choice = StartChoice::go;
  std::optional<Time> at;  ///< wait: no value where it depends on the cell that is being tried
};

class ServerLife {
 public:
  /// `rules` outlives it.
  explicit ServerLife(const RestartRules& rules) : rules_(&rules) {}

  /// A cell is to start. go: it was counted as started.
  StartAnswer may_start(StartKey start, Time now);
  /// Its handshake was answered.
  void answered(StartKey start);
  /// It ended as it should not have. `chance`: any number, so that those who failed together do not
  /// come back together.
  void failed(StartKey start, std::uint64_t chance, Time now);
  /// It is over, and that says nothing about the server.
  void gone(StartKey start);
  /// An administrator's or its user's word: as if nothing had been.
  void reset();

  LifeState state() const { return state_; }
  /// Failures in a row.
  std::uint32_t run() const { return run_; }
  /// When the next start may be at the latest; none: at once, or never.
  std::optional<Time> next_start() const;

 private:
  void enter_rest(Time now);
  void count(Time now);
  Milliseconds pause(std::uint64_t chance) const;

  const RestartRules* rules_;
  LifeState state_ = LifeState::good;
  LifeState before_trial_ = LifeState::good;  ///< pausing or resting
  StartKey trial_ = 0;
  /// Of the pause, the rest, or the trial: a cell whose host asks it nothing blocks no other for
  /// ever.
  Time until_;
  std::uint32_t run_ = 0;
  std::uint32_t failed_trials_ = 0;  ///< after rests, in a row
  std::deque<Time> failures_;        ///< within the window; at most rules_->failures
};

}  // namespace cellblock::gateway
