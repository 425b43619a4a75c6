#pragma once

#include "policy/config.h"
#include "policy/failure.h"
#include "supervisor/gateway/life/server_life.h"

namespace cellblock::gateway {

/// Why a start is refused now, with the cause of the failure before it; `last` may be null.
Failure start_refusal(const Server& server, const ServerLife& life, const Failure* last, Time now);

}  // namespace cellblock::gateway
