#pragma once

#include <vector>

#include "policy/config/access_rule.h"
#include "policy/config_check/allow_check.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/config_text.h"

namespace cellblock {

/// `[role.NAME]` of the main file, sorted by name. Those with members who are not here are added to
/// `broken`: they keep the others.
std::vector<Role> check_roles(Complaints& complaints, const ConfigText& main,
                              const Accounts& accounts, std::vector<BrokenPart>& broken);

/// Those of `texts`, each of which must be declared. `scope` is the rule's.
RoleSet check_role_names(const Scope& scope, const TextList& texts, const std::vector<Role>& roles,
                         ListUse use);

}  // namespace cellblock
