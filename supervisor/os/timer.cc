#include "supervisor/os/timer.h"

#include <sys/timerfd.h>

namespace cellblock {

SysResult<Fd> make_timer() {
  Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.valid()) return sys_fail("timerfd_create");
  return timer;
}

SysResult<void> set_timer(int timer, std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const itimerspec when = {
      .it_interval = {},
      .it_value = {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()}};
  if (::timerfd_settime(timer, 0, &when, nullptr) < 0) return sys_fail("timerfd_settime");
  return {};
}

SysResult<Fd> start_timer(std::chrono::nanoseconds time) {
  Fd timer = CELLBLOCK_TRY(make_timer());
  CELLBLOCK_CHECK(set_timer(timer.get(), time));
  return timer;
}

}  // namespace cellblock
