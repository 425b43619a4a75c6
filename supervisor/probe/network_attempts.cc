#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "policy/sandbox/probe_declaration.h"
#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"

namespace cellblock::probe {
namespace {

constexpr int patience_ms = 800;  // below the runner's bound

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

sockaddr_in address_of_target(const Setting& setting) {
  const std::string& text = setting.targets.tcp;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {};
  return address_of(text.substr(0, colon),
                    static_cast<std::uint16_t>(std::atoi(text.c_str() + colon + 1)));
}

Outcome wait_for_connection(int socket) {
  if (errno != EINPROGRESS) return held(errno);
  pollfd writable{socket, POLLOUT, 0};
  if (::poll(&writable, 1, patience_ms) <= 0) return held(ETIMEDOUT, "no answer");
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? opened() : held(error);
}

Outcome connect_to(const sockaddr_in& address, int protocol) {
  const Open made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!made.valid()) return held(errno);
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(made.get(), plain, sizeof address) == 0) return opened();
  return wait_for_connection(made.get());
}

constexpr int multipath_tcp = 262;

Outcome connect_target(const Setting& setting) {
  if (setting.targets.tcp.empty()) return not_applicable("no target was named: tcp");
  return connect_to(address_of_target(setting), 0);
}
Outcome connect_by_mptcp(const Setting& setting) {
  if (setting.targets.tcp.empty()) return not_applicable("no target was named: tcp");
  return connect_to(address_of_target(setting), multipath_tcp);
}

// The same host, written as an IPv6 address.
Outcome connect_mapped(const Setting& setting) {
  if (setting.targets.tcp.empty()) return not_applicable("no target was named: tcp");
  const sockaddr_in target = address_of_target(setting);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = target.sin_port;
  address.sin6_addr.s6_addr[10] = address.sin6_addr.s6_addr[11] = 0xff;
  std::memcpy(&address.sin6_addr.s6_addr[12], &target.sin_addr, 4);
  const Open made(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) return held(errno);
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(made.get(), plain, sizeof address) == 0) return opened();
  return wait_for_connection(made.get());
}

// Connects without connect(2).
Outcome connect_by_sending(const Setting& setting) {
  if (setting.targets.tcp.empty()) return not_applicable("no target was named: tcp");
  const sockaddr_in address = address_of_target(setting);
  const Open made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) return held(errno);
  const ssize_t sent = ::sendto(made.get(), "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return sent >= 0 ? opened() : wait_for_connection(made.get());
}

// Asks the kernel for a way there; sends nothing.
Outcome route_to(const char* host) {
  const sockaddr_in address = address_of(host, 53);
  const Open made(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!made.valid()) return held(errno);
  return from_call(
      ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
}
Outcome route_out(const Setting&) { return route_to(public_route.address); }
Outcome route_to_metadata(const Setting&) { return route_to(metadata_route.address); }
Outcome route_to_private(const Setting&) { return route_to(private_route.address); }

Outcome route_out_6(const Setting&) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(53);
  ::inet_pton(AF_INET6, public_route_6.address, &address.sin6_addr);
  const Open made(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!made.valid()) return held(errno);
  return from_call(
      ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

Outcome bind_to(std::uint16_t port) {
  const sockaddr_in address = address_of("127.0.0.1", port);
  const Open made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made.valid()) return held(errno);
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(made.get(), plain, sizeof address) < 0) return held(errno);
  return from_call(::listen(made.get(), 1));
}
Outcome listen_on_any_port(const Setting&) { return bind_to(0); }
Outcome listen_on_low_port(const Setting&) { return bind_to(79); }

Outcome see_interfaces(const Setting&) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) < 0) return held(errno);
  std::string seen;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (std::strcmp(each->ifa_name, "lo") != 0) seen = each->ifa_name;
  }
  ::freeifaddrs(all);
  return seen.empty() ? held("there is nothing but lo") : opened(seen);
}

// Malformed on purpose: the kernel asks for the right before it reads the rest.
Outcome change_routes(const Setting&) {
  const Open made(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!made.valid()) return held(errno);
  struct {
    nlmsghdr header;
    rtgenmsg family;  // and nothing of what a route would be
  } request{};
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.family);
  request.header.nlmsg_type = RTM_NEWROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  request.family.rtgen_family = AF_INET;
  if (::send(made.get(), &request, sizeof request, 0) < 0) return held(errno);
  struct {
    nlmsghdr header;
    nlmsgerr error;
    char more[256];
  } answer{};
  if (::recv(made.get(), &answer, sizeof answer, 0) < 0) return held(errno);
  errno = -answer.error.error;
  return from_harmless_call(answer.error.error == 0 ? 0 : -1);
}

// --- sockets of this machine ---------------------------------------------------------------------

Outcome connect_local(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return not_applicable("the path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  const Open made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made.valid()) return held(errno);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return from_call(::connect(made.get(), reinterpret_cast<sockaddr*>(&address), size));
}

Outcome connect_abstract(const Setting& setting) {
  if (setting.targets.abstract_socket.empty()) {
    return not_applicable("no target was named: abstract_socket");
  }
  return connect_local(std::string(1, '\0') + setting.targets.abstract_socket);
}
Outcome connect_path(const Setting& setting) {
  if (setting.targets.unix_socket.empty()) {
    return not_applicable("no target was named: unix_socket");
  }
  return connect_local(setting.targets.unix_socket);
}

// A pair needs no socket(2), and an end of it that holds to no connection can be turned elsewhere.
Outcome turn_pair(int type, const std::string& path) {
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0) return held(errno);
  const Open first(pair[0]);
  const Open second(pair[1]);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return from_call(::connect(first.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
}
Outcome turn_datagram_pair(const Setting& setting) {
  if (setting.targets.datagram_socket.empty()) {
    return not_applicable("no target was named: datagram_socket");
  }
  return turn_pair(SOCK_DGRAM, setting.targets.datagram_socket);
}
Outcome turn_stream_pair(const Setting& setting) {
  if (setting.targets.unix_socket.empty()) {
    return not_applicable("no target was named: unix_socket");
  }
  return turn_pair(SOCK_STREAM, setting.targets.unix_socket);
}

Outcome connect_known(const Setting&) {
  Outcome last = held(ENOENT);
  for (const char* path :
       {"/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket",
        "/run/systemd/private", "/run/cellblock/cellblock.sock", "/tmp/.X11-unix/X0"}) {
    last = connect_local(path);
    if (last.kind == OutcomeKind::open) return opened(path);
  }
  return last;
}

constexpr Attempt attempts[] = {
    {"connect_to_host", "services on the host's loopback can be used", connect_target},
    {"connect_to_host_mapped", "IPv6 notation passes a rule for IPv4", connect_mapped},
    {"connect_to_host_by_mptcp", "multipath TCP passes a rule for TCP", connect_by_mptcp},
    {"connect_to_host_by_sending", "fast open passes a rule for connect", connect_by_sending},
    {"route_out", "there is a way to the Internet", route_out},
    {"route_out_6", "there is a way to the Internet over IPv6", route_out_6},
    {"route_to_metadata", "there is a way to the cloud's credentials", route_to_metadata},
    {"route_to_private", "there is a way to machines nearby", route_to_private},
    {"see_interfaces", "the networks of the host are known", see_interfaces},
    {"change_routes", "traffic can be led elsewhere", change_routes},
    {"listen_on_port", "it can offer a service over TCP", listen_on_any_port},
    {"listen_on_low_port", "it can take the place of a system's service", listen_on_low_port},
    {"connect_to_abstract_socket", "services of the host's session can be used", connect_abstract},
    {"connect_to_unix_socket", "a service of the host can be used by its path", connect_path},
    {"turn_datagram_pair", "a pair of sockets reaches a service of the host", turn_datagram_pair},
    {"turn_stream_pair", "a pair of sockets reaches a service of the host", turn_stream_pair},
    {"connect_to_known_services", "Docker, D-Bus, X11 or cellblock itself can be asked",
     connect_known},
};

}  // namespace

std::span<const Attempt> network_attempts() { return attempts; }

}  // namespace cellblock::probe
