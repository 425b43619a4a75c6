#pragma once

#include <utility>

#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

namespace cellblock::gateway {

/// A descriptor and the interest in it, closed in the right order.
struct Endpoint {
  Endpoint(EventLoop& loop, Fd owned) : fd(std::move(owned)), watch(loop, fd.get()) {}

  /// May be called from a callback of this very watch.
  void close() {
    watch.forget();
    fd.reset();
  }

  Fd fd;
  Watch watch;
};

}  // namespace cellblock::gateway
