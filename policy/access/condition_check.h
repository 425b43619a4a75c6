#pragma once

#include <vector>

#include "policy/access/rule.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `arguments` of a rule. `scope` is the rule's.
std::vector<Condition> check_conditions(const Scope& scope,
                                        const std::vector<ConditionText>& texts);

}  // namespace cellblock
