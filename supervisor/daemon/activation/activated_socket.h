#pragma once

#include "policy/config/config.h"
#include "supervisor/daemon/activation/socket_path.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// The service manager's socket in the place of one of our own, if it is the one that the
/// configuration describes (socket_match.h).
Result<BoundSocket> adopt_socket(Fd socket, const Config& config);

}  // namespace cellblock::daemon
