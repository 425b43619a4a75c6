#include "supervisor/loader/start/clean_start.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {
namespace {

// A missing 0, 1 or 2 would be taken by the next file opened, and then written to as stderr.
SysResult<void> fill_stdio() {
  int fd = -1;
  do {
    fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0) return sys_fail("open");
  } while (fd <= STDERR_FILENO);
  ::close(fd);
  return {};
}

// The launcher inherits the limit: each of its cells takes about three descriptors, and the usual
// soft limit is for programs that use select(2).
SysResult<void> raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return sys_fail("getrlimit");
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) < 0) return sys_fail("setrlimit");
  return {};
}

}  // namespace

Result<void> clean_start(unsigned kept) {
  if (::close_range(STDERR_FILENO + 1 + kept, ~0U, 0) < 0) return sys_fail("close_range");
  CELLBLOCK_CHECK(fill_stdio());
  CELLBLOCK_CHECK(raise_descriptor_limit());
  ::umask(077);
  if (::chdir("/") < 0) return sys_fail("chdir");
  // A log reader that goes away must not end the supervisor.
  if (std::signal(SIGPIPE, SIG_IGN) == SIG_ERR) return sys_fail("signal");
  return {};
}

}  // namespace cellblock::daemon
