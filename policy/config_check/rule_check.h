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

/// Warns of rules without effect: those that name nobody or nothing, that another one denies
/// altogether, or that a server never asks for; and of those whose effect is a refusal for want of
/// an approver. `scope` is the server's, of which everything else is checked; says nothing beside
/// errors.
void warn_of_rules(const Scope& scope, const Server& server);

}  // namespace cellblock
