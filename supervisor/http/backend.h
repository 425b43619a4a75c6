#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "policy/jsonrpc/line_splitter.h"
#include "supervisor/http_connection/outbox.h"
#include "supervisor/os/event_loop.h"

namespace cellblock::http {

/// One connection to a gateway: lines both ways. Until the supervisor has brought the socket, what
/// is sent waits. No call comes from within a call.
class Backend {
 public:
  struct Events {
    std::function<void(std::string_view line)> line;
    std::function<void()> ended;  ///< once; it may be destroyed then
  };

  struct Bounds {
    std::size_t longest_line = 0;  ///< bytes, of what gateways send
    std::size_t most_queued = 0;   ///< bytes, of what is sent to them
  };

  Backend(EventLoop& loop, Bounds bounds, Events events)
      : loop_(loop),
        most_queued_(bounds.most_queued),
        splitter_(bounds.longest_line),
        events_(std::move(events)) {}

  void connect(Fd socket);
  /// False: too much waits already, and nothing was taken.
  bool send(std::span<const std::string_view> slices);
  /// At the end of a turn.
  void flush();
  std::size_t queued() const { return socket_ ? socket_->outbox.queued() : early_.size(); }

 private:
  void read();
  void deliver();
  void end();

  struct Socket {
    Socket(EventLoop& loop, Fd owned)
        : fd(std::move(owned)), watch(loop, fd.get()), outbox(watch, fd.get()) {}
    Fd fd;
    Watch watch;
    Outbox outbox;
  };

  EventLoop& loop_;
  std::size_t most_queued_;
  LineSplitter splitter_;
  Events events_;
  std::unique_ptr<Socket> socket_;
  std::string early_;     ///< sent before there is a socket
  bool is_deaf_ = false;  ///< it takes no more
  bool ended_ = false;
};

}  // namespace cellblock::http
