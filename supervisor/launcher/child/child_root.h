#pragma once

#include "supervisor/launcher/child/child_plan.h"

/// The steps that make a cell's root. Rules as in child_setup.h.
namespace cellblock::launcher {

bool build_root(ChildPlan& plan);
bool place_secrets(ChildPlan& plan);
bool mount_proc(ChildPlan& plan);
bool enter_root(ChildPlan& plan);

}  // namespace cellblock::launcher
