#pragma once

#include "policy/base/result.h"

namespace cellblock::daemon {

/// No core dumps and no tracer. Once more after each change of ids, and by each program that is
/// executed: both set the default again.
Result<void> hide_memory();

}  // namespace cellblock::daemon
