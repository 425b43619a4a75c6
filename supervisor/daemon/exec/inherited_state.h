#pragma once

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "supervisor/daemon/exec/supervisor_state.h"

namespace cellblock::daemon {

struct Inherited {
  SupervisorState state;
  Config config;
};

/// Takes what become_supervisor() has left. Once, and before anything else is opened: descriptors
/// are counted, not named. From here none of them is inherited by what is executed.
Result<Inherited> inherit_state();

}  // namespace cellblock::daemon
