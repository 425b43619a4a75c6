#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

/// Mount trees with other owners, and the user namespaces that they are mapped by.
namespace cellblock::daemon {

// User namespaces without processes, for ID-mapped mounts (mount_setattr(2)) and for children that
// enter them with setns(2). Each is made by a process of this same program that then ends: only a
// process that was executed lets itself be looked at in /proc, through which the maps are written.
// Blocking; the caller has one thread.

/// With these lines of uid_map and gid_map (user_namespaces(7)); CAP_SETUID and CAP_SETGID write
/// them.
Result<Fd> mapped_user_namespace(const std::string& uids, const std::string& gids);

/// With this user's own ids and the subordinate ones of `identity`, by newuidmap(1).
Result<Fd> subordinate_user_namespace(const Identity& identity);

/// Its argument, and what the process does that is started with it: makes a user namespace, says so
/// over descriptor 3, and waits for its end.
inline constexpr char hold_user_namespace_option[] = "--hold-user-namespace";
int hold_user_namespace();

/// On disk `uid` and `gid`, in the mount `id` and `id`.
struct IdMap {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t id = 0;
  auto operator<=>(const IdMap&) const = default;
};

/// A detached copy of the mount tree below an open file or directory, in which its owner is `id`
/// (mount_setattr(2), MOUNT_ATTR_IDMAP). Other ids have none there: what belongs to other users can
/// be read where the mode lets others (or the mapped group), and not be changed; so it is with
/// other groups than the owner's and that of the source itself. Nothing that is mounted in it, or
/// below the source later, is seen on the other side. Needs CAP_SYS_ADMIN, CAP_SETUID and
/// CAP_SETGID on the host.
Result<Fd> id_mapped_tree(int source, const IdMap& map);

}  // namespace cellblock::daemon
