#include "supervisor/daemon/load/file_system_user.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "policy/config/server_people.h"

namespace cellblock::daemon {
namespace {

/// This thread's rights to files, until the end of the scope.
class FileSystemUser {
 public:
  FileSystemUser(uid_t uid, gid_t gid)
      : gid_before_(static_cast<gid_t>(::setfsgid(gid))),
        uid_before_(static_cast<uid_t>(::setfsuid(uid))) {}
  FileSystemUser(const FileSystemUser&) = delete;
  FileSystemUser& operator=(const FileSystemUser&) = delete;
  ~FileSystemUser() {
    ::setfsuid(uid_before_);
    ::setfsgid(gid_before_);
  }

 private:
  gid_t gid_before_;
  uid_t uid_before_;
};

SysResult<Fd> open_path(const std::string& path, Links links) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS | (links == Links::refuse ? RESOLVE_NO_SYMLINKS : 0);
  const long file = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  if (file < 0) return sys_fail("openat2");
  return Fd(static_cast<int>(file));
}

// The last directory of the path that can still be looked at.
struct stat deepest_visible(const std::string& path) {
  struct stat found{};
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    struct stat next{};
    if (::stat(path.substr(0, slash).c_str(), &next) < 0) break;
    found = next;
  }
  return found;
}

}  // namespace

SysResult<Fd> open_source(const std::string& path, Links links) {
  auto opened = open_path(path, links);
  if (opened || opened.error().number != EACCES) return opened;
  const struct stat closed = deepest_visible(path);
  if (closed.st_uid < first_person || closed.st_gid == 0) return opened;
  const FileSystemUser owner(closed.st_uid, closed.st_gid);
  return open_path(path, links);
}

}  // namespace cellblock::daemon
