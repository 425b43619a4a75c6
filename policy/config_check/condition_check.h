#pragma once

#include <vector>

#include "policy/config/access_rule.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// `arguments` of a rule. `scope` is the rule's.
std::vector<Condition> check_conditions(const Scope& scope,
                                        const std::vector<ConditionText>& texts);

}  // namespace cellblock
