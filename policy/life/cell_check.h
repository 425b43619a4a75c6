#pragma once

#include <string>

#include "policy/life/cell_rules.h"
#include "policy/life/health_text.h"
#include "policy/located.h"
#include "policy/value_check.h"

namespace cellblock {

/// `scope`: of the server. `idle`: of its `stop`.
StopRules check_stop_rules(const Scope& scope, const Maybe<std::string>& idle);
HealthRules check_health(const Scope& scope, const HealthText& text);

}  // namespace cellblock
