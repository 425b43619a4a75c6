#pragma once

#include "policy/life/restart_rules.h"
#include "policy/life/restart_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `scope`: of the server.
RestartRules check_restart(const Scope& scope, const RestartText& text);

}  // namespace cellblock
