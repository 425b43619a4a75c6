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

/// Makes one with these lines of uid_map and gid_map (user_namespaces(7)), which needs CAP_SETUID
/// and CAP_SETGID.
Result<Fd> mapped_user_namespace(const std::string& uids, const std::string& gids);

/// Makes one with this user's own ids and the subordinate ones of `identity`, by newuidmap(1).
Result<Fd> subordinate_user_namespace(const Identity& identity);

/// The argument of such a process, and its work: makes a user namespace, reports over descriptor 3,
/// and waits for that descriptor's end.
inline constexpr char hold_user_namespace_option[] = "--hold-user-namespace";
int hold_user_namespace();

/// Maps `uid` and `gid` on disk to `id` and `id` in the mount.
struct IdMap {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t id = 0;
  auto operator<=>(const IdMap&) const = default;
};

/// A detached copy of the mount tree below an open file or directory, in which its owner is `id`
/// (mount_setattr(2), MOUNT_ATTR_IDMAP). Other users' files have no id there: they can be read
/// where the mode lets others (or the mapped group), and not changed. The same holds for groups
/// other than the owner's and the source's own. Mounts made later on either side are not seen on
/// the other. Needs CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID on the host.
Result<Fd> id_mapped_tree(int source, const IdMap& map);

}  // namespace cellblock::daemon
