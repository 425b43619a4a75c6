#pragma once

#include "policy/config.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `scope`: of the server, of which everything else has been checked. Fills `start` and the
/// time-out of the handshake.
void check_start(const Scope& scope, const Written& written, Server& server);

}  // namespace cellblock
