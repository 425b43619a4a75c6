#include "supervisor/activation/http_sockets.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <utility>

namespace cellblock::daemon {
namespace {

constexpr int metrics_backlog = 16;

}  // namespace

Result<MetricsSocket> bind_metrics(const Config& config) {
  MetricsSocket made;
  if (!config.metrics) return made;
  if (config.metrics->socket.empty()) {
    made.listener =
        CELLBLOCK_TRY(listen_on_loopback("[metrics]", "127.0.0.1", config.metrics->port));
    return made;
  }
  Listen as_socket;
  as_socket.socket = config.metrics->socket;
  as_socket.mode = config.metrics->mode;
  BoundSocket bound = CELLBLOCK_TRY(BoundSocket::bind(as_socket));
  made.listener = bound.take();
  made.file.emplace(std::move(bound));
  if (::listen(made.listener.get(), metrics_backlog) < 0) return sys_fail("listen");
  return made;
}

namespace {

constexpr int backlog = 128;

Result<void> bind_to(int socket, std::string_view host, std::uint16_t port) {
  int result = -1;
  if (host == "::1") {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    address.sin6_port = htons(port);
    result = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    result = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  if (result == 0) return {};
  return sys_fail("bind");
}

}  // namespace

// Without SO_REUSEPORT no other process can share the port and take some of its connections.
Result<Fd> listen_on_loopback(std::string_view table, std::string_view address,
                              std::uint16_t port) {
  const int family = address == "::1" ? AF_INET6 : AF_INET;
  Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return sys_fail("socket");
  const int yes = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0) {
    return sys_fail("setsockopt");
  }
  if (const auto bound = bind_to(socket.get(), address, port); !bound) {
    return fail(fmt::format("{} {} port {}: {}", table, address, port, bound.error().text));
  }
  if (::listen(socket.get(), backlog) < 0) return sys_fail("listen");
  return socket;
}

Result<HttpSockets> bind_http(const Config& config) {
  HttpSockets sockets;
  if (!config.http) return sockets;
  const HttpListen& http = *config.http;
  if (!http.socket.empty()) {
    Listen as_socket;
    as_socket.socket = http.socket;
    as_socket.mode = http.mode;
    as_socket.group = http.group;
    BoundSocket bound = CELLBLOCK_TRY(BoundSocket::bind(as_socket));
    sockets.unix_socket.emplace(std::move(bound));
  }
  if (!http.address.empty()) {
    sockets.tcp = CELLBLOCK_TRY(listen_on_loopback("[listen.http]", http.address, http.port));
  }
  return sockets;
}

}  // namespace cellblock::daemon
