#pragma once

#include <vector>

#include "policy/config/access_rule.h"
#include "policy/config_check/allow_check.h"
#include "policy/config_check/role_check.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// A server's rules: its `allow`, then each `[[server.NAME.rule]]`. `scope` is the server's.
std::vector<Rule> check_rules(const Scope& scope, const ServerText& text,
                              const std::vector<Role>& roles, const Accounts& accounts);

}  // namespace cellblock
