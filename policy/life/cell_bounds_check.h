#pragma once

#include "policy/config_text.h"
#include "policy/life/cell_rules.h"
#include "policy/value_check.h"

namespace cellblock {

/// `scope`: of the daemon. Whichever is not written gives way to the other.
CellBounds check_cell_bounds(const Scope& scope, const DaemonText& text);

}  // namespace cellblock
