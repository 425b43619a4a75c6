#pragma once

#include "policy/config_reader/written.h"
#include "policy/config/restart_rules.h"
#include "policy/config_check/value_check.h"

namespace cellblock {

/// `scope`: of the server.
RestartRules check_restart(const Scope& scope, const Written& written);

}  // namespace cellblock
