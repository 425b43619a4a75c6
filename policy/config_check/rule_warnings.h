#pragma once

#include "policy/config/config.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// Warns of rules without effect: those that name nobody or nothing, that another one denies
/// altogether, or that a server never asks for; and of those whose effect is a refusal for want of
/// an approver. `scope` is the server's, of which everything else is checked; says nothing beside
/// errors.
void warn_of_rules(const Scope& scope, const Server& server);

}  // namespace cellblock
