#include "supervisor/launcher/prepare/mounts.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

namespace cellblock::launcher {

namespace {

SysResult<Fd> open_below(int directory, const char* path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve;
  const long fd = syscall(SYS_openat2, directory, path, &how, sizeof how);
  if (fd < 0) return sys_fail("openat2");
  return Fd(static_cast<int>(fd));
}

}  // namespace

SysResult<Fd> open_strictly(int directory, const char* path, int flags) {
  return open_below(directory, path, flags, RESOLVE_NO_SYMLINKS);
}

SysResult<Fd> open_within(int directory, const char* path, int flags) {
  return open_below(directory, path, flags, 0);
}

SysResult<Fd> clone_tree(int descriptor) {
  const long fd = syscall(SYS_open_tree, descriptor, "",
                          OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
  if (fd < 0) return sys_fail("open_tree");
  return Fd(static_cast<int>(fd));
}

SysResult<Fd> clone_tree_at(int directory, const char* path) {
  const Fd found = CELLBLOCK_TRY(open_strictly(directory, path, O_PATH));
  return clone_tree(found.get());
}

SysResult<void> add_attributes(int tree, std::uint64_t attributes, Reach reach) {
  mount_attr words{};
  words.attr_set = attributes;
  const int flags = AT_EMPTY_PATH | (reach == Reach::whole_tree ? AT_RECURSIVE : 0);
  if (syscall(SYS_mount_setattr, tree, "", flags, &words, sizeof words) < 0) {
    return sys_fail("mount_setattr");
  }
  return {};
}

SysResult<void> leave_peers(int tree) {
  mount_attr words{};
  words.propagation = MS_PRIVATE;
  if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &words, sizeof words) <
      0) {
    return sys_fail("mount_setattr");
  }
  return {};
}

SysResult<void> attach_tree(int tree, int directory, const char* path) {
  const unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (*path == 0 ? MOVE_MOUNT_T_EMPTY_PATH : 0U);
  if (syscall(SYS_move_mount, tree, "", directory, path, flags) < 0) return sys_fail("move_mount");
  return {};
}

}  // namespace cellblock::launcher
