#include "supervisor/os/file_stamp.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace cellblock {

SysResult<FileStamp> stamp_of(const Fd& file) {
  struct statx status{};
  constexpr unsigned wanted = STATX_INO | STATX_SIZE | STATX_CTIME;
  if (::statx(file.get(), "", AT_EMPTY_PATH, wanted, &status) < 0) return sys_fail("statx");
  return FileStamp{::gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino,
                   status.stx_size, static_cast<std::uint64_t>(status.stx_ctime.tv_sec),
                   status.stx_ctime.tv_nsec};
}

}  // namespace cellblock
