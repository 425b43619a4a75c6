#include "supervisor/daemon/load/wait_readable.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace cellblock::daemon {

using std::chrono::milliseconds;

SysResult<void> wait_readable(int descriptor, milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  pollfd watched{descriptor, POLLIN, 0};
  int count = -1;
  do {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    count = ::poll(&watched, 1, static_cast<int>(std::max(left, milliseconds{0}).count()));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return sys_fail("poll");
  if (count == 0) return std::unexpected(SysError{"poll", ETIMEDOUT});
  return {};
}

}  // namespace cellblock::daemon
