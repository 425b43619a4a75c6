#include "policy/config_check/restart_check.h"

#include <fmt/format.h>

#include <array>

#include "policy/base/units.h"
#include "policy/config_check/choice_check.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;

constexpr Range<milliseconds> pause_range{milliseconds{0}, milliseconds{3'600'000}};
constexpr Range<milliseconds> patience_range{milliseconds{0}, milliseconds{300'000}};
constexpr Range<milliseconds> window_range{milliseconds{1'000}, milliseconds{24LL * 3'600'000}};
constexpr Range<std::int64_t> failures_range{1, 1'000};
constexpr Range<std::int64_t> trials_range{1, 1'000};

constexpr std::array whens = {Choice<RestartWhen>{"on-failure", RestartWhen::on_failure},
                              Choice<RestartWhen>{"never", RestartWhen::never}};

// The default of the longer one gives way to a shorter one that is declared, and the other way
// round.
void check_pauses(const Scope& scope, const RestartText& text, RestartRules& rules) {
  check_duration(scope, "pause", text.pause, pause_range, rules.pause);
  check_duration(scope, "max_pause", text.max_pause, pause_range, rules.max_pause);
  if (rules.pause <= rules.max_pause) return;
  if (!text.max_pause) {
    rules.max_pause = rules.pause;
  } else if (!text.pause) {
    rules.pause = rules.max_pause;
  } else {
    scope.error(
        text.max_pause->at, "max_pause",
        fmt::format("is shorter than pause; allowed: at least {}", duration_text(rules.pause)));
  }
}

}  // namespace

RestartRules check_restart(const Scope& scope, const RestartText& text) {
  const Scope here = scope.below("restart");
  RestartRules rules;
  check_choice(here, "when", text.when, whens, rules.when);
  check_pauses(here, text, rules);
  check_duration(here, "patience", text.patience, patience_range, rules.patience);
  check_integer(here, "failures", text.failures, failures_range, rules.failures);
  check_duration(here, "window", text.window, window_range, rules.window);
  check_duration(here, "rest", text.rest, window_range, rules.rest);
  check_integer(here, "trials", text.trials, trials_range, rules.trials);
  return rules;
}

}  // namespace cellblock
