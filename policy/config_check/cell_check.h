#pragma once

#include <string>

#include "policy/config/cell_rules.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/health_text.h"
#include "policy/config_reader/located.h"

namespace cellblock {

/// `scope`: of the server. `idle`: of its `stop`.
StopRules check_stop_rules(const Scope& scope, const Maybe<std::string>& idle);
HealthRules check_health(const Scope& scope, const HealthText& text);

}  // namespace cellblock
