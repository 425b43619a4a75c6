#pragma once

#include "client/cli/common/context.h"
#include "policy/doctor/finding.h"

namespace cellblock::cli {

/// Makes a whole cell: a daemon of the command's own starts cellblock's probe in one, and has to
/// get an answer out of it. Nothing is left. `context.mode` is the user's, or, for root, the
/// system's.
DoctorFinding cell_finding(const Context& context);

/// Of the system's cells, for who is no root.
DoctorFinding untried_cell();

}  // namespace cellblock::cli
