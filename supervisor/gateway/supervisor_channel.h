#pragma once

#include <functional>

#include "supervisor/gateway/event_loop.h"
#include "supervisor/gateway/record_sender.h"
#include "supervisor/kernel/sys.h"
#include "supervisor/kernel/wire.h"

namespace cellblock::gateway {

/// Where sessions come from, each with the identity that the kernel vouches for.
class SupervisorChannel {
 public:
  struct Receiver {
    std::function<void(const wire::SessionGrant&, Fd connection)> session;
    std::function<void(Fd audit)> audit_channel;
    std::function<void()> closed;  ///< also when the supervisor says what it may not say
  };

  SupervisorChannel(EventLoop& loop, Fd socket, Receiver receiver);

  void session_closed(std::uint32_t connection);

 private:
  void readable();
  bool accept(const wire::SessionGrant& grant, std::vector<Fd> fds);

  Fd socket_;
  Watch watch_;
  RecordSender<wire::SessionClosed> sender_;
  Receiver receiver_;
};

}  // namespace cellblock::gateway
