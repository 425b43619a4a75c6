#pragma once

#include <sys/types.h>

#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/launcher/child/setup_failure.h"

namespace cellblock::launcher {

/// A process between its clone and the end of its set-up.
struct Cloned {
  pid_t pid = 0;
  Fd pidfd;
};

struct CloneRequest {
  int network = -1;    ///< the cell's network namespace; -1: the host's
  int cgroup = -1;     ///< directory of the cell's control group; -1: it stays in the caller's
  int go_writer = -1;  ///< the writing end of plan.go, which the child must not have
};

/// Makes the process that becomes pid 1 of a cell and runs run_child in it. It is the launcher's
/// child, wherever it was made. Failures are of the steps make_network and clone.
SetupResult<Cloned> clone_child(ChildPlan& plan, const CloneRequest& request);

/// Kills it and waits: its going is certain and soon, since a pid namespace ends with its pid 1.
void end_and_reap(const Cloned& child);

}  // namespace cellblock::launcher
