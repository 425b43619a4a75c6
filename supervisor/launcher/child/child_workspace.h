#pragma once

#include "supervisor/launcher/child/child_plan.h"

namespace cellblock::launcher {

/// Finds the directory that a host passed again by its path, as the cell's user, below the tree
/// that the launcher keeps; proves that it is the same; and makes a mount of it for build_root.
/// Here and not in the launcher, since a file system of the host may keep the caller waiting for
/// ever. Rules as in child_setup.h.
bool open_workspace(ChildPlan& plan);

}  // namespace cellblock::launcher
