#include "supervisor/launcher/run/event_loop.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>

namespace cellblock::launcher {

SysResult<EventLoop> EventLoop::make() {
  Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return sys_fail("epoll_create1");
  return EventLoop(std::move(epoll));
}

SysResult<void> EventLoop::watch_input(int descriptor, Callback callback) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) < 0) return sys_fail("epoll_ctl");
  callbacks_[descriptor] = std::make_shared<Callback>(std::move(callback));
  return {};
}

void EventLoop::forget(int descriptor) {
  if (callbacks_.erase(descriptor) > 0) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
  }
}

// A callback of the same batch may have removed this one; its own copy keeps it alive while it
// runs.
void EventLoop::dispatch(int descriptor) {
  const auto found = callbacks_.find(descriptor);
  if (found == callbacks_.end()) return;
  const auto callback = found->second;
  (*callback)();
}

SysResult<void> EventLoop::run() {
  // One event a turn: a descriptor that a callback closed could otherwise come back in the same
  // batch under the same number as something else.
  while (!stopped_) {
    epoll_event event{};
    const int count = epoll_wait(epoll_.get(), &event, 1, -1);
    if (count < 0 && errno != EINTR) return sys_fail("epoll_wait");
    if (count == 1) dispatch(event.data.fd);
  }
  return {};
}

}  // namespace cellblock::launcher
