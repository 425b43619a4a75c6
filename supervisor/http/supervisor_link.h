#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "policy/base/internet_address.h"
#include "supervisor/http_connection/http_context.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/event_loop.h"

namespace cellblock::http {

/// The channel to the supervisor: asks for connections, and is told of the hosts that came to the
/// Unix socket. What it asks is of fixed size and names only tokens and hosts by number.
class SupervisorLink {
 public:
  struct Events {
    std::function<void(std::uint32_t request, Fd socket)> opened;
    std::function<void(std::uint32_t request)> refused;
    std::function<void(Fd connection, const Caller& peer)> peer;
    std::function<void(const Fd& sealed)> config;
    std::function<void()> gone;
  };

  SupervisorLink(EventLoop& loop, Fd channel, Events events);
  Result<void> start();

  /// False: too much waits to be asked already; nothing was asked.
  bool open(std::uint32_t request, const Caller& caller);
  /// That many requests from this address had an unknown bearer token. Not sent while too much is
  /// waiting.
  void wrong_token(const InternetAddress& from, std::uint32_t requests);
  /// Nothing of that host is used here any more.
  void peer_gone(std::uint32_t peer);

 private:
  void read();
  void obey(const wire::HttpAnswer& answer, std::vector<Fd> fds);
  void ask(const wire::HttpRequest& request);
  void ask_what_waits();

  Fd channel_;
  Watch watch_;
  Events events_;
  /// For when there is room: at most as many openings as have a bound of their own, and one record
  /// for each host that was here.
  std::deque<wire::HttpRequest> waiting_;
};

}  // namespace cellblock::http
