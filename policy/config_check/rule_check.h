#pragma once

#include <vector>

#include "policy/config/access_rule.h"
#include "policy/config/config.h"
#include "policy/config_check/people_check.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

/// The rules of a server, and warnings of those without effect.
namespace cellblock {

/// A server's rules: its `allow`, then each `[[server.NAME.rule]]`. `scope` is the server's.
std::vector<Rule> check_rules(const Scope& scope, const ServerText& text,
                              const std::vector<Role>& roles, const Accounts& accounts);

/// Warns of rules without effect: rules that name no user or nothing, that another rule denies
/// altogether, or that a server never triggers; and of rules that always refuse because no approver
/// exists. `scope` is the server's, whose other parts have been checked; adds nothing to errors.
void warn_of_rules(const Scope& scope, const Server& server);

}  // namespace cellblock
