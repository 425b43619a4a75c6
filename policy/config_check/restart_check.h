#pragma once

#include "policy/config/restart_rules.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/written.h"

namespace cellblock {

/// `scope`: of the server.
RestartRules check_restart(const Scope& scope, const Written& written);

}  // namespace cellblock
