#pragma once

#include "supervisor/launcher/child/child_plan.h"

/// The child's half of a spawn, from wait_for_launcher to exec.
namespace cellblock::launcher {

// Steps of run_child(), under its rules. False with errno set on failure.

/// Empties the bounding, ambient, inheritable, effective and permitted sets and locks securebits.
bool drop_capabilities(ChildPlan& plan);

/// Reads all of them back and tries to become root. EPERM when anything is left.
bool prove_dropped(ChildPlan& plan);

/// Finds the directory that a host passed again by its path, as the cell's user, below the tree
/// that the launcher keeps; proves that it is the same; and makes a mount of it for build_root.
/// Here and not in the launcher, since a file system of the host may keep the caller waiting for
/// ever.
bool open_workspace(ChildPlan& plan);

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
