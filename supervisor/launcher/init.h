#pragma once

#include <sys/types.h>

#include "supervisor/launcher/child_plan.h"

/// The two processes of ours that stay in a cell. Neither keeps an environment, a secret, memory
/// that can be read (the launcher is not dumpable and they are its copies) or, init, any
/// descriptor; both run under a filter of a few calls. Rules as in child_setup.h.
namespace cellblock::launcher {

/// Pid 1: reaps what is orphaned, passes SIGTERM on to the guardian, and ends when the guardian
/// does, which makes the kernel end everything else in the cell.
[[noreturn]] void run_init(ChildPlan& plan, pid_t guardian) noexcept;

/// The server's parent: passes SIGTERM on to it, and writes down how it ended.
[[noreturn]] void run_guardian(ChildPlan& plan, pid_t server) noexcept;

}  // namespace cellblock::launcher
