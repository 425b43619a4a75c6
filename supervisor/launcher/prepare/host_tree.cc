#include "supervisor/launcher/prepare/host_tree.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/launcher/child/clone_child.h"

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

namespace {

// Its mounts still hear of the host's: clones would go on hearing of them.
SysResult<Fd> enter_for_good(int mounts) {
  if (setns(mounts, CLONE_NEWNS) < 0) return sys_fail("setns");
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) return sys_fail("mount");
  return open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY);
}

SysResult<Fd> clone_inside(int mounts, int found) {
  if (setns(mounts, CLONE_NEWNS) < 0) return sys_fail("setns");
  return clone_tree(found);
}

SysResult<Fd> in_stage_of_its_own(const std::function<SysResult<Fd>()>& work) {
  Fd made;
  CELLBLOCK_CHECK(run_in_namespace([&]() -> SysResult<void> {
    made = CELLBLOCK_TRY(work());
    return {};
  }));
  return made;
}

}  // namespace

SysResult<HostTree> HostTree::of(Fd mounts) {
  Fd root = CELLBLOCK_TRY(in_stage_of_its_own([&mounts] { return enter_for_good(mounts.get()); }));
  return HostTree(std::move(root), std::move(mounts));
}

SysResult<Fd> HostTree::clone(const char* path) const {
  if (!mounts_.valid()) return clone_tree_at(root_.get(), path);
  const Fd found = CELLBLOCK_TRY(open_strictly(root_.get(), path, O_PATH));
  return in_stage_of_its_own([this, &found] { return clone_inside(mounts_.get(), found.get()); });
}

}  // namespace cellblock::launcher
