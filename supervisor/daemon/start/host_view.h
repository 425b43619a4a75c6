#pragma once

#include <chrono>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// A mount namespace that shows what this process sees of the host now, and belongs to
/// `user_namespace`: whoever has its capabilities there can copy mounts from it, and whoever has
/// not can do nothing with it. The user namespace must be one that this process's user has made; no
/// other right is needed. A child makes it and is gone; blocks for as long, and for no longer than
/// `patience` (ETIMEDOUT). The caller has one thread.
SysResult<Fd> host_view(int user_namespace, std::chrono::milliseconds patience);

}  // namespace cellblock::daemon
