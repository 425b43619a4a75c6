#include "supervisor/launcher/prepare/egress_network.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "policy/base/internet_address.h"
#include "policy/egress/special_addresses.h"
#include "supervisor/launcher/child/clone_child.h"
#include "supervisor/os/timer.h"

namespace cellblock::launcher {
namespace {

/// RTM_NEWROUTE with its two attributes, as the kernel reads it; RTA_DST last, since an IPv4
/// address is shorter.
struct RouteRequest {
  nlmsghdr header{};
  rtmsg route{};
  rtattr device_header{};
  std::uint32_t device = 0;
  rtattr address_header{};
  std::array<std::uint8_t, 16> address{};
};
static_assert(sizeof(RouteRequest) == NLMSG_LENGTH(sizeof(rtmsg)) + 2 * sizeof(rtattr) + 20);

struct Reply {
  nlmsghdr header{};
  nlmsgerr words{};
};

// The kernel refuses an address that has bits behind its prefix.
void clear_host_bits(AddressRange& range) {
  for (std::size_t bit = range.prefix; bit < 8 * range.address.size(); ++bit) {
    range.address[bit / 8] &= static_cast<std::uint8_t>(~(0x80U >> (bit % 8)));
  }
}

RouteRequest request_for(AddressRange range, std::uint32_t device) {
  clear_host_bits(range);
  const std::size_t skipped = is_ipv4(range) ? ipv4_offset : 0;
  const std::size_t length = range.address.size() - skipped;
  RouteRequest request;
  request.header.nlmsg_len =
      static_cast<std::uint32_t>(sizeof request - range.address.size() + length);
  request.header.nlmsg_type = RTM_NEWROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  request.route.rtm_family = is_ipv4(range) ? AF_INET : AF_INET6;
  request.route.rtm_dst_len =
      static_cast<std::uint8_t>(range.prefix - (is_ipv4(range) ? ipv4_bits : 0));
  request.route.rtm_table = RT_TABLE_LOCAL;
  request.route.rtm_protocol = RTPROT_STATIC;
  request.route.rtm_scope = RT_SCOPE_HOST;
  request.route.rtm_type = RTN_LOCAL;
  request.device_header = {RTA_LENGTH(sizeof device), RTA_OIF};
  request.device = device;
  request.address_header = {static_cast<std::uint16_t>(RTA_LENGTH(length)), RTA_DST};
  std::copy_n(range.address.begin() + static_cast<std::ptrdiff_t>(skipped), length,
              request.address.begin());
  return request;
}

SysResult<void> read_answer(int netlink) {
  Reply reply;
  const ssize_t count = recv(netlink, &reply, sizeof reply, MSG_TRUNC);
  if (count < 0) return sys_fail("recv");
  if (count < static_cast<ssize_t>(sizeof reply) || reply.header.nlmsg_type != NLMSG_ERROR) {
    return std::unexpected(SysError{"RTM_NEWROUTE", EPROTO});
  }
  const int error = -reply.words.error;
  if (error != 0 && error != EEXIST) return std::unexpected(SysError{"RTM_NEWROUTE", error});
  return {};
}

// Makes every address of the ranges one of this host's own, in the network namespace of the
// caller: what connects to it is answered by whoever listens on all addresses. A range that is
// local already stays so. Needs CAP_NET_ADMIN there. (rtnetlink(7), RTN_LOCAL.)
SysResult<void> make_local(const std::vector<AddressRange>& ranges) {
  const Fd netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!netlink.valid()) return sys_fail("socket");
  const std::uint32_t device = if_nametoindex("lo");
  if (device == 0) return sys_fail("if_nametoindex");
  for (const AddressRange& range : ranges) {
    const RouteRequest request = request_for(range, device);
    if (send(netlink.get(), &request, request.header.nlmsg_len, 0) < 0) return sys_fail("send");
    CELLBLOCK_CHECK(read_answer(netlink.get()));
  }
  return {};
}

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
