#pragma once

#include "supervisor/egress/deferred_work.h"
#include "supervisor/egress/event_queue.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

namespace cellblock::egress {

/// The channel to the gateway. Its end ends the loop: there is no cell left to connect for.
class EventSender {
 public:
  EventSender(EventLoop& loop, Fd gateway);

  SysResult<void> start();
  void tell(const wire::EgressEvent& event, EventQueue::Room room);
  /// All that waits, at no rate, and then the loop ends.
  void finish();

 private:
  void flush();

  EventLoop& loop_;
  Fd gateway_;
  Watch watch_;
  Timer timer_;
  Later later_;
  EventQueue queue_;
  bool flush_is_due_ = false;
  bool blocked_ = false;
  bool finishing_ = false;
};

}  // namespace cellblock::egress
