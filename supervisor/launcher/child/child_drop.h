#pragma once

#include "supervisor/launcher/child/child_plan.h"

namespace cellblock::launcher {

// Steps of run_child (child_setup.h); its rules apply. False with errno set on failure.

/// Empties the bounding, ambient, inheritable, effective and permitted sets and locks securebits.
bool drop_capabilities(ChildPlan& plan);

/// Reads all of them back and tries to become root. EPERM when anything is left.
bool prove_dropped(ChildPlan& plan);

}  // namespace cellblock::launcher
