#pragma once

#include "policy/base/result.h"
#include "supervisor/handover/supervisor_state.h"

namespace cellblock::daemon {

/// The last act of cellblockd: replaces this process by `program`, an open cellblock-supervisor.
/// Returns only with an error; `state` cannot be used then.
Error become_supervisor(const Fd& program, const SupervisorState& state);

}  // namespace cellblock::daemon
