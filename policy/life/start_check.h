#pragma once

#include "policy/config.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `scope`: of the server, of which everything else has been checked.
StartRules check_start_rules(const Scope& scope, const ServerText& text, const Server& server);

}  // namespace cellblock
