#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "policy/config/cell_rules.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "supervisor/os/clock.h"

/// When a server of one user may start, by how it fared before. Pure: it says what to do with a
/// start, start_queue.h does it.
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

class RestartPolicy {
 public:
  /// For how long one cell is tried alone. A cell that gets no request, or does not answer, keeps
  /// others waiting no longer than this.
  static constexpr Milliseconds alone{5'000};

  /// `rules` outlives it.
  explicit RestartPolicy(const RestartRules& rules) : rules_(&rules) {}

  /// A cell is to start. go: it was counted as started.
  StartAnswer may_start(StartKey start, Time now);
  /// The cell's handshake was answered.
  void answered(StartKey start);
  /// The cell failed. `chance`: any number; it spreads the restarts of servers that failed
  /// together.
  void failed(StartKey start, std::uint64_t chance, Time now);
  /// The cell ended, and its end says nothing about the server.
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
  bool forget_trial(StartKey start) { return std::erase(trials_, start) > 0; }
  void count(Time now);
  Milliseconds pause(std::uint64_t chance) const;

  const RestartRules* rules_;
  LifeState state_ = LifeState::good;
  LifeState before_trial_ = LifeState::good;  ///< pausing or resting
  std::vector<StartKey> trials_;  ///< whose outcome is not known; the first failure decides
  Time until_;                    ///< of the pause, the rest, or the time of a trial alone
  std::uint32_t run_ = 0;
  std::uint32_t failed_trials_ = 0;  ///< after rests, in a row
  std::deque<Time> failures_;        ///< within the window; at most rules_->failures
};

/// Why a start is refused now, with the cause of the failure before it; `last` may be null.
Failure start_refusal(const Server& server, const RestartPolicy& life, const Failure* last,
                      Time now);

}  // namespace cellblock::gateway
