#include "supervisor/launcher/prepare/egress_network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "policy/egress/synthetic_range.h"
#include "supervisor/launcher/child/run_in_namespace.h"
#include "supervisor/launcher/prepare/local_routes.h"

namespace cellblock::launcher {
namespace {

using wire::EgressSocketKind;

constexpr std::uint16_t dns_port = 53;
constexpr int backlog = 128;
/// An address to bind to, of either family.
union Address {
  sockaddr any;
  sockaddr_in ipv4;
  sockaddr_in6 ipv6;
};

socklen_t size_of(const Address& address) {
  return address.any.sa_family == AF_INET ? sizeof address.ipv4 : sizeof address.ipv6;
}

Address bindable(const InternetAddress& host, std::uint16_t port) {
  Address address{};
  address.ipv4 = {.sin_family = AF_INET, .sin_port = htons(port)};
  std::memcpy(&address.ipv4.sin_addr, &host.at(ipv4_offset), sizeof address.ipv4.sin_addr);
  return address;
}

enum class Families : std::uint8_t { both, only_ipv4 };

Address every_address(Families families, std::uint16_t port) {
  if (families == Families::only_ipv4) return bindable(every_ipv4.address, port);
  Address address{};
  address.ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any};
  return address;
}

// A kernel booted with ipv6.disable=1: nothing in the cell can make such a socket either.
Families families_here() {
  const Fd probe(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return probe.valid() || errno != EAFNOSUPPORT ? Families::both : Families::only_ipv4;
}

SysResult<Fd> bind_socket(int type, const Address& address) {
  Fd made(socket(address.any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) return sys_fail("socket");
  const int off = 0;
  if (address.any.sa_family == AF_INET6 &&
      setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0) {
    return sys_fail("IPV6_V6ONLY");
  }
  if (bind(made.get(), &address.any, size_of(address)) < 0) return sys_fail("bind");
  if (type == SOCK_STREAM && listen(made.get(), backlog) < 0) return sys_fail("listen");
  return made;
}

SysResult<void> add_socket(EgressSockets& sockets, EgressSocketKind kind, std::uint16_t port,
                           const Address& address) {
  if (sockets.sockets.size() == wire::max_egress_sockets) {
    return std::unexpected(SysError{"egress", E2BIG});
  }
  const int type = kind == EgressSocketKind::dns_udp ? SOCK_DGRAM : SOCK_STREAM;
  sockets.sockets.push_back(CELLBLOCK_TRY(bind_socket(type, address)));
  sockets.start.sockets[sockets.start.socket_count++] = {.kind = kind, .port = port};
  return {};
}

std::vector<AddressRange> ranges_of(const Egress& egress, Families families) {
  std::vector<AddressRange> ranges = {synthetic_range.of_ipv4(), synthetic_range.of_ipv6()};
  for (const EgressRule& rule : egress.allow) {
    if (rule.target == EgressTarget::range) ranges.push_back({rule.address, rule.prefix});
  }
  if (families == Families::only_ipv4) {
    std::erase_if(ranges, [](const AddressRange& range) { return !is_ipv4(range); });
  }
  return ranges;
}

SysResult<void> add_sockets(EgressSockets& sockets, const Egress& egress, Families families) {
  const Address resolver = bindable(cell_resolver, dns_port);
  CELLBLOCK_CHECK(add_socket(sockets, EgressSocketKind::dns_udp, dns_port, resolver));
  CELLBLOCK_CHECK(add_socket(sockets, EgressSocketKind::dns_tcp, dns_port, resolver));
  std::set<std::uint16_t> ports;
  for (const EgressRule& rule : egress.allow) ports.insert(rule.port);
  for (const std::uint16_t port : ports) {
    CELLBLOCK_CHECK(
        add_socket(sockets, EgressSocketKind::direct, port, every_address(families, port)));
  }
  if (!egress.proxy_port) return {};
  return add_socket(sockets, EgressSocketKind::proxy, *egress.proxy_port,
                    bindable(ipv4_address(127, 0, 0, 1), *egress.proxy_port));
}

}  // namespace

SysResult<EgressSockets> prepare_egress(int network, std::uint32_t server_index,
                                        const Egress& egress) {
  EgressSockets sockets;
  sockets.start.server_index = server_index;
  const auto prepared = run_in_namespace([&]() -> SysResult<void> {
    if (setns(network, CLONE_NEWNET) < 0) return sys_fail("setns");
    const Families families = families_here();
    CELLBLOCK_CHECK(make_local(ranges_of(egress, families)));
    return add_sockets(sockets, egress, families);
  });
  if (!prepared) return std::unexpected(prepared.error());
  return sockets;
}

}  // namespace cellblock::launcher
