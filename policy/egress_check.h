#pragma once

#include "policy/config.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `egress` of a server, which only `network = "egress"` takes. `scope` is the server's.
Egress check_egress(const Scope& scope, const ServerText& text, NetworkMode network);

}  // namespace cellblock
