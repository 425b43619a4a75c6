#pragma once

#include <functional>
#include <string_view>

#include "supervisor/gateway/io/record_channel.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

namespace cellblock::gateway {

/// Brings new sessions, each with the identity that the kernel reports.
class SupervisorChannel {
 public:
  struct Receiver {
    std::function<void(const wire::SessionGrant&, Fd connection)> session;
    std::function<void(Fd audit)> audit_channel;
    std::function<void(Fd sealed)> config;
    std::function<void()> closed;                      ///< once
    std::function<void(std::string_view why)> broken;  ///< it said what it may not say
  };

  SupervisorChannel(EventLoop& loop, Fd socket, Receiver receiver);

  /// After the end of the channel: nothing.
  void session_closed(std::uint32_t connection);

 private:
  bool accept(const wire::SessionGrant& grant, std::vector<Fd> fds);

  Receiver receiver_;
  RecordReader<wire::SessionGrant> reader_;
  RecordSender<wire::SessionClosed> sender_;
};

}  // namespace cellblock::gateway
