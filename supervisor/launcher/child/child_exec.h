#pragma once

#include "supervisor/launcher/child/child_plan.h"

/// The last steps of a child: its Landlock domain, then exec.
namespace cellblock::launcher {

/// Puts the calling process into the Landlock domain of plan.landlock, for good and for all its
/// children. Needs no_new_privs. False with errno when any part failed: then nothing was entered.
/// Without masks (no Landlock here) there is nothing to do. Rules as in child_setup.h.
bool enter_landlock(ChildPlan& plan);

/// The steps from place_stdio to exec, in the process that becomes the server. Rules as in
/// child_setup.h.
[[noreturn]] void exec_server(ChildPlan& plan) noexcept;

}  // namespace cellblock::launcher
