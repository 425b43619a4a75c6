#include "supervisor/egress/socket_io.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cellblock::egress {
namespace {

constexpr int keepalive_idle = 60;  // seconds
constexpr int keepalive_interval = 20;
constexpr int keepalive_probes = 6;

IoResult result_of(ssize_t count) {
  if (count > 0) return {IoStatus::done, static_cast<std::size_t>(count)};
  if (count == 0) return {IoStatus::ended, 0};
  const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {later ? IoStatus::would_block : IoStatus::broken, 0};
}

void set_option(int socket, int level, int option, int value) {
  // Without it the connection is only slower, or is noticed later to be dead.
  static_cast<void>(::setsockopt(socket, level, option, &value, sizeof value));
}

struct KernelAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* any() { return reinterpret_cast<sockaddr*>(&storage); }
};

template <class Address>
void store(KernelAddress& out, const Address& address) {
  std::memcpy(&out.storage, &address, sizeof address);
  out.size = sizeof address;
}

// In its own family: a host without IPv6 cannot reach a mapped address.
KernelAddress to_kernel(const SocketAddress& address) {
  KernelAddress out;
  if (is_ipv4(address.address)) {
    sockaddr_in ipv4{.sin_family = AF_INET, .sin_port = htons(address.port)};
    std::memcpy(&ipv4.sin_addr, &address.address.at(ipv4_offset), sizeof ipv4.sin_addr);
    store(out, ipv4);
  } else {
    sockaddr_in6 ipv6{.sin6_family = AF_INET6, .sin6_port = htons(address.port)};
    std::memcpy(&ipv6.sin6_addr, address.address.data(), sizeof ipv6.sin6_addr);
    store(out, ipv6);
  }
  return out;
}

SocketAddress from_kernel(const KernelAddress& address) {
  SocketAddress out;
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address.storage, sizeof ipv4);
    out.address = every_ipv4.address;
    std::memcpy(&out.address.at(ipv4_offset), &ipv4.sin_addr, sizeof ipv4.sin_addr);
    out.port = ntohs(ipv4.sin_port);
  } else {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &address.storage, sizeof ipv6);
    std::memcpy(out.address.data(), &ipv6.sin6_addr, sizeof ipv6.sin6_addr);
    out.port = ntohs(ipv6.sin6_port);
  }
  return out;
}

}  // namespace

IoResult receive(int socket, std::span<char> into) {
  return result_of(::recv(socket, into.data(), into.size(), MSG_DONTWAIT));
}

IoResult send(int socket, std::string_view bytes) {
  return result_of(::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

void set_tcp_options(int socket) {
  set_option(socket, SOL_SOCKET, SO_RCVBUF, socket_buffer);
  set_option(socket, SOL_SOCKET, SO_SNDBUF, socket_buffer);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
}

SysResult<Fd> accept_from(int listener) {
  Fd accepted(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!accepted.valid()) return sys_fail("accept4");
  set_tcp_options(accepted.get());
  return accepted;
}

SysResult<SocketAddress> local_address(int socket) {
  KernelAddress address;
  if (::getsockname(socket, address.any(), &address.size) != 0) return sys_fail("getsockname");
  return from_kernel(address);
}

SysResult<Fd> start_connection(const SocketAddress& to) {
  KernelAddress address = to_kernel(to);
  Fd made(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) return sys_fail("socket");
  set_tcp_options(made.get());
  if (::connect(made.get(), address.any(), address.size) != 0 && errno != EINPROGRESS) {
    return sys_fail("connect");
  }
  return made;
}

int connect_error(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

void abort_on_close(int socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  // Without it the other side only takes the end for an ordinary one.
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
}

}  // namespace cellblock::egress
