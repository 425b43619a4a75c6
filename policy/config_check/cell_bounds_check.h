#pragma once

#include "policy/config/cell_rules.h"
#include "policy/config/config.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/config_text.h"

namespace cellblock {

/// `scope`: of the daemon, whose keys have been read into `bounds`. Where only the sum is written,
/// each user has a quarter of it, rounded up; rootless, where there is one user, all of it.
void check_cell_bounds(const Scope& scope, const Written& daemon, RunMode mode, CellBounds& bounds);

}  // namespace cellblock
