#pragma once

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "supervisor/gateway/cell/restart_policy.h"

namespace cellblock::gateway {

/// Why a start is refused now, with the cause of the failure before it; `last` may be null.
Failure start_refusal(const Server& server, const RestartPolicy& life, const Failure* last,
                      Time now);

}  // namespace cellblock::gateway
