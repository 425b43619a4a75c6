#pragma once

#include "policy/config/config.h"
#include "supervisor/handover/audit_files.h"
#include "supervisor/os/sys.h"

/// The directories and files that outlive the daemon. Started as root, cellblockd calls these
/// before it becomes the daemon's user.
namespace cellblock::daemon {

/// Opens all files of the audit log in `directory`; makes missing ones, 0600, never through a link.
/// Files that root makes stay root's: a process that takes over the daemon's user can append and
/// truncate through these descriptors, but never open, rename or remove a file.
Result<AuditFiles> open_audit_files(const Config& config, int directory);

/// Makes the sockets' directories if they are missing, 0755 and owned by the daemon's user, who
/// must be able to remove the sockets again.
Result<void> make_socket_directory(const Config& config);

/// Makes the state directory if it is missing (0700, the daemon's user) and locks it while the
/// descriptor is open: a second daemon with the same state is refused.
Result<Fd> open_state_directory(const Config& config);

/// Opens the audit log; makes its directory if it is missing (0700, owned by the caller).
Result<AuditFiles> open_audit_log(const Config& config);

}  // namespace cellblock::daemon
