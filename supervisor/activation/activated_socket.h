#pragma once

#include "policy/config/config.h"
#include "supervisor/activation/socket_path.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// Takes the service manager's socket in place of a newly bound one. An error: the configuration
/// describes another socket (socket_match.h).
Result<BoundSocket> adopt_socket(Fd socket, const Config& config);

}  // namespace cellblock::daemon
