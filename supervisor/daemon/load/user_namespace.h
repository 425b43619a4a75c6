#pragma once

#include <string>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

/// User namespaces that nobody is in: for ID-mapped mounts (mount_setattr(2)) and for children that
/// enter them with setns(2). A process of this same program makes each and is gone: only one that
/// was executed lets itself be looked at in /proc, through which the maps are written. Blocking;
/// the caller has one thread.
namespace cellblock::daemon {

/// With these lines of uid_map and gid_map (user_namespaces(7)); CAP_SETUID and CAP_SETGID write
/// them.
Result<Fd> mapped_user_namespace(const std::string& uids, const std::string& gids);

/// With this user's own ids and the subordinate ones of `identity`, by newuidmap(1).
Result<Fd> subordinate_user_namespace(const Identity& identity);

/// Its argument, and what the process does that is started with it: makes a user namespace, says so
/// over descriptor 3, and waits for its end.
inline constexpr char hold_user_namespace_option[] = "--hold-user-namespace";
int hold_user_namespace();

}  // namespace cellblock::daemon
