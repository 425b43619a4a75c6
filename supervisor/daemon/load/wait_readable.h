#pragma once

#include <chrono>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// Until there is something to be read, or its end. ETIMEDOUT: not within `patience`. Blocking.
SysResult<void> wait_readable(int descriptor, std::chrono::milliseconds patience);

}  // namespace cellblock::daemon
