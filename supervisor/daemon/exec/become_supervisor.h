#pragma once

#include "policy/base/result.h"
#include "supervisor/daemon/exec/supervisor_state.h"

namespace cellblock::daemon {

/// The last act of cellblockd: this process becomes `program`, which is cellblock-supervisor and
/// open. Returns only with an error; `state` is of no use then.
Error become_supervisor(const Fd& program, const SupervisorState& state);

}  // namespace cellblock::daemon
