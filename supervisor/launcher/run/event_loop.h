#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// epoll with a callback per descriptor; nothing more, so that the launcher stays small. Callbacks
/// may add and remove descriptors, their own included. One thread.
class EventLoop {
 public:
  static SysResult<EventLoop> make();

  using Callback = std::function<void()>;
  SysResult<void> watch_input(int descriptor, Callback callback);
  void forget(int descriptor);  ///< before it is closed

  /// Until stop(). An error of epoll itself ends it.
  SysResult<void> run();
  void stop() { stopped_ = true; }

 private:
  explicit EventLoop(Fd epoll) : epoll_(std::move(epoll)) {}
  void dispatch(int descriptor);

  Fd epoll_;
  std::map<int, std::shared_ptr<Callback>> callbacks_;
  bool stopped_ = false;
};

}  // namespace cellblock::launcher
