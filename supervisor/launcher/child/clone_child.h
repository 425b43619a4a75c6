#pragma once

#include <sys/types.h>

#include <functional>

#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/os/sys.h"

/// Processes that the launcher clones: for an errand in other namespaces, and for cells.
namespace cellblock::launcher {

// Work inside other namespaces. The launcher cannot enter them and come back: the host's network
// namespace belongs to the host's user namespace, so leaving it would be for good. A stage is a
// process for one errand that shares the launcher's memory and descriptors while the launcher
// stands still; only its namespaces differ. (clone(2): CLONE_VM, CLONE_VFORK, CLONE_FILES.)

using StageWork = std::function<SysResult<void>()>;

/// Runs `work` in a stage and returns its result, or EOWNERDEAD when the stage was killed in it.
/// What `work` writes and opens stays; namespaces that it enters or makes go with the stage unless
/// a descriptor holds them. Children that it makes with CLONE_PARENT are the launcher's, with
/// SIGCHLD. `work` may use 200 KiB of stack and must not throw. The caller has one thread.
SysResult<void> run_in_namespace(const StageWork& work);

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
