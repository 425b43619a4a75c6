#pragma once

#include "policy/config/config.h"
#include "supervisor/daemon/helpers/audit_files.h"
#include "supervisor/os/sys.h"

/// The directories and files that outlive the daemon. For root to call, before it becomes the
/// daemon's user, where it starts as root.
namespace cellblock::daemon {

/// All of them, made where they are missing: 0600, never through a link. Root makes them where
/// root starts us: then a process that takes the daemon's user over can append and empty through
/// these descriptors, but never open, rename or remove a file. `directory` is where they are.
Result<AuditFiles> open_audit_files(const Config& config, int directory);

/// Makes the socket's directory, 0755 and the daemon's, if it is missing: the daemon's user must be
/// able to remove the socket again.
Result<void> make_socket_directory(const Config& config);

/// Makes it if it is missing (0700, the daemon's) and locks it: a second daemon over the same state
/// is refused. Locked for as long as the descriptor is open.
Result<Fd> open_state_directory(const Config& config);

/// Makes its directory if it is missing (0700, the caller's).
Result<AuditFiles> open_audit_log(const Config& config);

}  // namespace cellblock::daemon
