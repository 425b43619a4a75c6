#pragma once

#include "policy/base/result.h"

namespace cellblock::daemon {

/// Forbids core dumps and tracers. Call it again after each change of ids and after each exec: both
/// restore the default.
Result<void> hide_memory();

}  // namespace cellblock::daemon
