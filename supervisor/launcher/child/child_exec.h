#pragma once

#include "supervisor/launcher/child/child_plan.h"

namespace cellblock::launcher {

/// The steps from place_stdio to exec, in the process that becomes the server. Rules as in
/// child_setup.h.
[[noreturn]] void exec_server(ChildPlan& plan) noexcept;

}  // namespace cellblock::launcher
