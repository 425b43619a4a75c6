#pragma once

#include "policy/config/config.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// `scope`: of the server, of which everything else has been checked. Fills `start` and the
/// time-out of the handshake.
void check_start(const Scope& scope, const Written& written, Server& server);

}  // namespace cellblock
