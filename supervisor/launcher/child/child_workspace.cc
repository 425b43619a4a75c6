#include "supervisor/launcher/child/child_workspace.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

namespace cellblock::launcher {
namespace {

// Nothing may lead elsewhere: no link, no `..` above the root, no /proc of another process.
int open_strictly_below(const char* root, const char* path) {
  const int base = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (base < 0) return -1;
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long found = syscall(SYS_openat2, base, path, &how, sizeof how);
  const int error = errno;
  close(base);
  errno = error;
  return static_cast<int>(found);
}

bool is_that(int found, const DirectoryIdentity& wanted) {
  DirectoryIdentity identity;
  if (!identify_directory(found, identity)) return false;
  errno = ESTALE;
  return identity == wanted;
}

int mount_of(int directory, std::uint64_t attributes) {
  constexpr unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH;
  const long tree = syscall(SYS_open_tree, directory, "", flags);
  if (tree < 0) return -1;
  mount_attr words{};
  words.attr_set = attributes;
  if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &words, sizeof words) <
      0) {
    return -1;
  }
  return static_cast<int>(tree);
}

}  // namespace

// What is opened here is close-on-exec, and closed by close_descriptors or keep_only (init.cc).
bool open_workspace(ChildPlan& plan) {
  if (!plan.workspace.passed) return true;
  const int found = open_strictly_below(plan.workspace.root, plan.workspace.below);
  if (found < 0 || !is_that(found, plan.workspace.identity)) return false;
  plan.workspace.tree = mount_of(found, plan.workspace.attributes);
  return plan.workspace.tree >= 0;
}

}  // namespace cellblock::launcher
