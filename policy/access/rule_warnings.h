#pragma once

#include "policy/config.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// Warns of rules without effect: those that name nobody or nothing, that another one denies
/// altogether, or that a server never asks for; and of those whose effect is a refusal for want of
/// an approver. `scope` is the server's, of which everything else is checked; says nothing beside
/// errors.
void warn_of_rules(const Scope& scope, const Server& server);

}  // namespace cellblock
