#pragma once

#include <sys/types.h>

#include <csignal>

#include "supervisor/launcher/child/child_plan.h"

/// The two processes of ours that stay in a cell. Neither keeps an environment, a secret, memory
/// that can be read (the launcher is not dumpable and they are its copies) or, init, any
/// descriptor; both run under a filter of a few calls. Rules as in child_setup.h.
namespace cellblock::launcher {

/// Ends the server process alone, in any state, so that its exit can still be reported. Killing pid
/// 1 takes the guardian along, and with it the exit code of a server that was just exiting by
/// itself.
inline constexpr int kill_server_signal = SIGUSR1;

/// Pid 1: reaps what is orphaned, passes SIGTERM and kill_server_signal on to the guardian, and
/// ends when the guardian does, which makes the kernel end everything else in the cell.
[[noreturn]] void run_init(ChildPlan& plan, pid_t guardian) noexcept;

/// The server's parent: passes SIGTERM on to it, kills it when told to, and writes down how it
/// ended.
[[noreturn]] void run_guardian(ChildPlan& plan, pid_t server) noexcept;

}  // namespace cellblock::launcher
