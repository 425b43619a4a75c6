#pragma once

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "supervisor/handover/supervisor_state.h"

namespace cellblock::daemon {

struct Inherited {
  SupervisorState state;
  Config config;
};

/// Takes the state that become_supervisor() has passed on. Call once, before any descriptor is
/// opened: descriptors are known by their numbers alone. Marks all of them close-on-exec.
Result<Inherited> inherit_state();

}  // namespace cellblock::daemon
