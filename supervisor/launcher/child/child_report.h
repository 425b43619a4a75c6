#pragma once

#include "supervisor/launcher/child/child_plan.h"

namespace cellblock::launcher {

/// Sends (step, errno, detail) up the report socket and ends the process with the step's exit code.
[[noreturn]] void fail_step(const ChildPlan& plan, SetupStep step, int error,
                            ExecDetail detail = ExecDetail::none) noexcept;

/// Performs one step of the list, or fails with its name.
void do_step(ChildPlan& plan, SetupStep step, bool (*perform)(ChildPlan&)) noexcept;

/// True, with errno set, when a test asked for this step to fail. Always false in what is shipped.
bool injected_fault(const ChildPlan& plan, SetupStep step) noexcept;

}  // namespace cellblock::launcher
