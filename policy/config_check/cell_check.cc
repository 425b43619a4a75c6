#include "policy/config_check/cell_check.h"

#include <chrono>
#include <optional>

namespace cellblock {
namespace {

using std::chrono::milliseconds;

constexpr Range<milliseconds> idle_range{milliseconds{1'000}, milliseconds{7LL * 24 * 3'600'000}};
constexpr Range<milliseconds> ping_range{milliseconds{1'000}, milliseconds{24LL * 3'600'000}};
constexpr Range<milliseconds> timeout_range{milliseconds{100}, milliseconds{600'000}};

void check_duration_or_never(const Scope& scope, std::string_view key,
                             const Maybe<std::string>& text, Range<milliseconds> range,
                             std::optional<milliseconds>& out) {
  if (!text) return;
  if (text->value == "never") return out.reset();
  milliseconds time = range.least;
  check_duration(scope, key, text, range, time, ", or \"never\"");
  out = time;
}

}  // namespace

StopRules check_stop_rules(const Scope& scope, const Maybe<std::string>& idle) {
  StopRules rules;
  check_duration_or_never(scope.below("stop"), "idle", idle, idle_range, rules.idle);
  return rules;
}

HealthRules check_health(const Scope& scope, const HealthText& text) {
  const Scope here = scope.below("health");
  HealthRules rules;
  check_duration_or_never(here, "ping", text.ping, ping_range, rules.ping);
  check_duration(here, "timeout", text.timeout, timeout_range, rules.timeout);
  return rules;
}

}  // namespace cellblock
