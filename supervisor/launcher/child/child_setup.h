#pragma once

#include "supervisor/launcher/child/child_plan.h"

namespace cellblock::launcher {

/// The child's half of a spawn: performs the steps of policy/failures/setup_step.h from
/// wait_for_launcher to exec. Runs in the process that clone3 made, which becomes pid 1 of the
/// cell.
///
/// Rules of the code behind it, because it runs in a copy of the launcher with other threads' and
/// libraries' state frozen: no allocation, no exceptions, no stdio, no locale, no name service;
/// only system calls on what the plan holds. A step that fails reports its name and errno and ends
/// the process with that step's exit code; nothing is ever skipped or tried in a weaker form.
[[noreturn]] void run_child(ChildPlan& plan) noexcept;

}  // namespace cellblock::launcher
