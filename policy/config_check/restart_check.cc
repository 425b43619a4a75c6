#include "policy/config_check/restart_check.h"

#include <fmt/format.h>

#include "policy/base/units.h"
#include "policy/config/server_keys.h"
#include "policy/config_check/key_reader.h"

namespace cellblock {
namespace {

// The default of the longer one gives way to a shorter one that is declared, and the other way
// round.
void check_pauses(const Scope& scope, const Written& written, RestartRules& rules) {
  if (rules.pause <= rules.max_pause) return;
  if (!written.has("max_pause")) {
    rules.max_pause = rules.pause;
  } else if (!written.has("pause")) {
    rules.pause = rules.max_pause;
  } else {
    scope.error(
        written.at("max_pause"), "max_pause",
        fmt::format("is shorter than pause; allowed: at least {}", duration_text(rules.pause)));
  }
}

}  // namespace

RestartRules check_restart(const Scope& scope, const Written& written) {
  const Scope here = scope.below("restart");
  RestartRules rules;
  read_keys(here, written, rules);
  check_pauses(here, written, rules);
  return rules;
}

}  // namespace cellblock
