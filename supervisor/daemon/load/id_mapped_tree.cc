#include "supervisor/daemon/load/id_mapped_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "supervisor/daemon/load/user_namespace.h"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

namespace cellblock::daemon {
namespace {

// Nobody's: the kernel gives no such id to anybody, and no cell has it.
constexpr std::uint32_t unowned_group = 0xffff'fffd;

std::string mapping_line(std::uint32_t from, std::uint32_t to) {
  return fmt::format("{} {} 1\n", from, to);
}

// A directory may belong to a group that is not its owner's: what is made there does so too, which
// takes that this group has an id in the mount. Whoever enters the namespace must gain none by it.
std::string group_lines(const IdMap& map, std::uint32_t group_of_source) {
  const std::string owners = mapping_line(map.gid, map.id);
  return group_of_source == map.gid ? owners
                                    : owners + mapping_line(group_of_source, unowned_group);
}

// Else what is mounted in the copy is mounted on the host too, and the other way round
// (mount_namespaces(7), shared subtrees).
SysResult<void> leave_peers(int tree) {
  mount_attr attributes{};
  attributes.propagation = MS_PRIVATE;
  if (::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                sizeof attributes) < 0) {
    return sys_fail("mount_setattr");
  }
  return {};
}

SysResult<Fd> copy_tree(int source) {
  const long tree = ::syscall(SYS_open_tree, source, "",
                              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
  if (tree < 0) return sys_fail("open_tree");
  Fd copy(static_cast<int>(tree));
  CELLBLOCK_CHECK(leave_peers(copy.get()));
  return copy;
}

Result<void> change_owner(int tree, int user_namespace) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<std::uint64_t>(user_namespace);
  if (::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                sizeof attributes) == 0) {
    return {};
  }
  if (errno == EINVAL) {
    return fail("mount_setattr: EINVAL: this kernel or file system has no ID-mapped mounts");
  }
  return std::unexpected<Error>(SysError{"mount_setattr", errno});
}

}  // namespace

Result<Fd> id_mapped_tree(int source, const IdMap& map) {
  struct stat status{};
  if (::fstat(source, &status) < 0) return std::unexpected<Error>(sys_fail("fstat").error());
  Fd tree = CELLBLOCK_TRY(copy_tree(source));
  const Fd ids = CELLBLOCK_TRY(
      mapped_user_namespace(mapping_line(map.uid, map.id), group_lines(map, status.st_gid)));
  CELLBLOCK_CHECK(change_owner(tree.get(), ids.get()));
  return tree;
}

}  // namespace cellblock::daemon
