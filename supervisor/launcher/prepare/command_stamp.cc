#include "supervisor/launcher/prepare/command_stamp.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/os/file_stamp.h"

namespace cellblock::launcher {

SysResult<bool> command_unchanged(int root, const char* path, const FileStamp& stamp) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long found = syscall(SYS_openat2, root, path, &how, sizeof how);
  if (found < 0) return sys_fail("openat2");
  const Fd file(static_cast<int>(found));
  return CELLBLOCK_TRY(stamp_of(file)) == stamp;
}

}  // namespace cellblock::launcher
