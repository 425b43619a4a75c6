#pragma once

#include "policy/config/config.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// `scope`: of the server, of which everything else has been checked.
StartRules check_start_rules(const Scope& scope, const ServerText& text, const Server& server);

}  // namespace cellblock
