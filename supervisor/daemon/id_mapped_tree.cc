#include "supervisor/daemon/id_mapped_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "supervisor/daemon/user_namespace.h"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

namespace cellblock::daemon {
namespace {

constexpr std::uint64_t all_ids = 0xffff'ffffU;  // the last id means "no id"

std::string line(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
  return count == 0 ? std::string() : fmt::format("{} {} {}\n", from, to, count);
}

// All but two ids stay what they are: a directory may belong to a group that its owner is not in
// first, and what is made there belongs to it as well.
std::string group_lines(std::uint32_t group, std::uint32_t id) {
  const std::uint64_t low = std::min(group, id);
  const std::uint64_t high = std::max(group, id);
  std::string lines = line(group, id, 1);
  lines += line(0, 0, low);
  if (low == high) return lines + line(low + 1, low + 1, all_ids - low - 1);
  return lines + line(low + 1, low + 1, high - low - 1) +
         line(high + 1, high + 1, all_ids - high - 1);
}

SysResult<Fd> copy_tree(int source) {
  const long tree = ::syscall(SYS_open_tree, source, "",
                              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
  if (tree < 0) return sys_fail("open_tree");
  return Fd(static_cast<int>(tree));
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
  Fd tree = CELLBLOCK_TRY(copy_tree(source));
  const Fd ids =
      CELLBLOCK_TRY(mapped_user_namespace(line(map.uid, map.id, 1), group_lines(map.gid, map.id)));
  CELLBLOCK_CHECK(change_owner(tree.get(), ids.get()));
  return tree;
}

}  // namespace cellblock::daemon
