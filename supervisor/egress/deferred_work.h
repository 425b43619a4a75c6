#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "supervisor/os/event_loop.h"

namespace cellblock::egress {

/// Work for the end of this turn, dropped if this object ends first. What a callback stands on may
/// be destroyed there.
class Later {
 public:
  explicit Later(EventLoop& loop) : loop_(loop) {}
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;

  void run(std::function<void()> work) {
    loop_.defer([alive = std::weak_ptr(alive_), work = std::move(work)] {
      // Not kept alive: the work may be what ends its owner.
      if (!alive.expired()) work();
    });
  }

 private:
  EventLoop& loop_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace cellblock::egress
