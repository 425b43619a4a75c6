#include "supervisor/launcher/prepare/own_root.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/launcher/prepare/host_tree.h"

namespace cellblock::launcher {
namespace {

SysResult<void> make_directory(const char* path) {
  if (mkdir(path, 0755) < 0) return sys_fail("mkdir");
  return {};
}

// /tmp is only the place where the new root is mounted for a moment: pivot_root makes it the root
// and uncovers the host's /tmp again, below /host.
SysResult<void> pivot_to_empty_root() {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) return sys_fail("mount");
  if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") < 0) {
    return sys_fail("mount");
  }
  if (chdir("/tmp") < 0) return sys_fail("chdir");
  CELLBLOCK_CHECK(make_directory("host"));
  if (syscall(SYS_pivot_root, ".", "host") < 0) return sys_fail("pivot_root");
  if (chdir("/") < 0) return sys_fail("chdir");
  return {};
}

SysResult<void> attach_from_host(const HostTree& host, const char* source, const char* place) {
  CELLBLOCK_CHECK(make_directory(place));
  const Fd tree = CELLBLOCK_TRY(host.clone(source));
  return attach_tree(tree.get(), AT_FDCWD, place);
}

}  // namespace

SysResult<OwnRoot> enter_own_root(const std::string& state_directory) {
  umask(022);
  if (unshare(CLONE_NEWNS) < 0) return sys_fail("unshare");
  CELLBLOCK_CHECK(pivot_to_empty_root());
  HostTree host(CELLBLOCK_TRY(open_at(AT_FDCWD, "/host", O_PATH | O_DIRECTORY)));
  CELLBLOCK_CHECK(make_directory("/cell"));
  CELLBLOCK_CHECK(make_directory("/trees"));
  CELLBLOCK_CHECK(attach_from_host(host, "proc", "/proc"));
  CELLBLOCK_CHECK(attach_from_host(host, state_directory.c_str() + 1, "/state"));
  Fd state = CELLBLOCK_TRY(open_at(AT_FDCWD, "/state", O_RDONLY | O_DIRECTORY));
  return OwnRoot{std::move(host), std::move(state)};
}

SysResult<void> forget_host() {
  if (umount2("/host", MNT_DETACH) < 0) return sys_fail("umount2");
  if (rmdir("/host") < 0) return sys_fail("rmdir");
  return {};
}

}  // namespace cellblock::launcher
