#pragma once

#include "policy/config_reader/written.h"
#include "policy/life/restart_rules.h"
#include "policy/value_check.h"

namespace cellblock {

/// `scope`: of the server.
RestartRules check_restart(const Scope& scope, const Written& written);

}  // namespace cellblock
