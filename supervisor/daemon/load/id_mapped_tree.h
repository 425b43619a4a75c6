#pragma once

#include <compare>
#include <cstdint>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

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
