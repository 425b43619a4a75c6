#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// Drops cellblockd's privileges. Each step is checked, then proven. Call from the only thread. See
/// capabilities(7), PR_CAPBSET_DROP(2const).
namespace cellblock::daemon {

struct DaemonUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::span<const gid_t> groups;  ///< replace all supplementary groups
};

/// Capabilities to keep, besides the two that write the launcher's id map.
enum class Keep : std::uint8_t {
  nothing,
  mounting,  ///< CAP_SYS_ADMIN if the process has it, until stop_mounting(): for a reload
};

/// Leaves exactly CAP_SETUID and CAP_SETGID, permitted and effective, under that user. Starts as
/// root, or already as that user with these two (systemd's AmbientCapabilities=).
Result<void> become_daemon_user(const DaemonUser& user, Keep keep = Keep::nothing);

/// Whether this process has CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID: for ID-mapped mounts.
bool may_mount();
Result<void> stop_mounting();

/// Drops the supplementary groups. Needs CAP_SETGID, so call it before the capabilities are
/// dropped.
Result<void> leave_groups();

/// Sets no_new_privs: no executed program can regain privilege.
Result<void> forbid_new_privileges();

/// Empties every set: ambient, bounding where still possible, inheritable, permitted, effective.
Result<void> drop_all_capabilities();

/// Reads every set back, and tries to become root and `other_id`: both must fail with EPERM.
Result<void> prove_powerless(uid_t other_id);

enum class Links : std::uint8_t {
  follow,
  refuse,  ///< ELOOP, on the way too: a user who can change a directory could redirect the path
};

/// Opens what a path leads to (O_PATH), with this process's own rights.
SysResult<Fd> open_path(const std::string& path, Links links);

/// As open_path(). A directory that is closed to this process is opened as its owner, an ordinary
/// user (setfsuid(2)), which needs CAP_SETUID and CAP_SETGID. The caller has one thread.
SysResult<Fd> open_source(const std::string& path, Links links);

}  // namespace cellblock::daemon
