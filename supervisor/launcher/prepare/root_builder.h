#pragma once

#include <vector>

#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/launcher/child/root_plan.h"
#include "supervisor/launcher/prepare/host_tree.h"

namespace cellblock::launcher {

/// Carries out a plan_root list once: a tmpfs at `place` (an empty directory of the launcher's own
/// root), filled, its binds attached, sealed read-only. Returns the descriptor of the finished
/// root, from which each cell's copy is cloned (host_tree.h, clone_tree). Failures are of step
/// `prepare` and name the declared path.
SetupResult<Fd> build_template(const std::vector<RootEntry>& entries, const HostTree& host,
                               const char* place);

/// Reads what plan_root needs. `host`: a descriptor of its root. A part that is missing there is
/// left out.
SysResult<HostLayout> read_host_layout(int host);

}  // namespace cellblock::launcher
