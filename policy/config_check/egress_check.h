#pragma once

#include "policy/config/config.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

namespace cellblock {

/// `egress` of a server, which only `network = "egress"` takes. `scope` is the server's.
Egress check_egress(const Scope& scope, const ServerText& text, NetworkMode network);

}  // namespace cellblock
