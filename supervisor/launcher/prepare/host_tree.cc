#include "supervisor/launcher/prepare/host_tree.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "supervisor/launcher/child/run_in_namespace.h"
#include "supervisor/launcher/prepare/mounts.h"

namespace cellblock::launcher {
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
