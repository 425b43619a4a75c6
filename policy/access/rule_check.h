#pragma once

#include <vector>

#include "policy/access/role_check.h"
#include "policy/access/rule.h"
#include "policy/allow_check.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// A server's rules: its `allow`, then each `[[server.NAME.rule]]`. `scope` is the server's.
std::vector<Rule> check_rules(const Scope& scope, const ServerText& text,
                              const std::vector<Role>& roles, const Accounts& accounts);

}  // namespace cellblock
