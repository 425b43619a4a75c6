#include "supervisor/launcher/prepare/tree_store.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>

namespace cellblock::launcher {

SysResult<TreeStore> TreeStore::make(std::uint64_t number) {
  std::string path = "/trees/" + std::to_string(number);
  if (mkdir(path.c_str(), 0755) < 0 && errno != EEXIST) return sys_fail("mkdir");
  if (mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") < 0) {
    return sys_fail("mount");
  }
  return TreeStore(std::move(path));
}

TreeStore& TreeStore::operator=(TreeStore&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  return *this;
}

// Whatever is mounted below goes with it.
void TreeStore::remove() {
  if (path_.empty()) return;
  umount2(path_.c_str(), MNT_DETACH);
  path_.clear();
}

}  // namespace cellblock::launcher
