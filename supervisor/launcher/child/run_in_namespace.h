#pragma once

#include <functional>

#include "supervisor/os/sys.h"

/// Work inside other namespaces. The launcher cannot do it and come back: the host's network
/// namespace belongs to the host's user namespace, so that leaving it would be for good. A stage is
/// a process for one errand that has the launcher's memory and descriptors as its own, while the
/// launcher stands still; only its namespaces are not the launcher's. (clone(2): CLONE_VM,
/// CLONE_VFORK, CLONE_FILES.)
namespace cellblock::launcher {

using StageWork = std::function<SysResult<void>()>;

/// Runs `work` in a stage and returns its result, or EOWNERDEAD when the stage was killed in it.
/// What `work` writes and opens stays; namespaces that it enters or makes go with the stage unless
/// a descriptor holds them. Children that it makes with CLONE_PARENT are the launcher's, with
/// SIGCHLD. `work` may use 200 KiB of stack and must not throw. The caller has one thread.
SysResult<void> run_in_namespace(const StageWork& work);

}  // namespace cellblock::launcher
