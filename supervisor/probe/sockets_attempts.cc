#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"

namespace cellblock::probe {
namespace {

// Numbers that not every C library's headers have.
constexpr int family_smc = 43;
constexpr int family_xdp = 44;
constexpr int multipath_tcp = 262;
constexpr int light_udp = 136;

template <int family, int type, int protocol>
Outcome make(const Setting&) {
  const Open made(::socket(family, type | SOCK_CLOEXEC, protocol));
  return from_call(made.get());
}

// The kernel cuts the family to an int; a filter that compares 64 bits sees another one.
Outcome make_vsock_high(const Setting&) {
  const Open made(
      static_cast<int>(::syscall(SYS_socket, 1UL << 32 | AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  return from_call(made.get());
}
Outcome make_packet_high(const Setting&) {
  const Open made(
      static_cast<int>(::syscall(SYS_socket, 1UL << 32 | AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  return from_call(made.get());
}

template <int protocol>
constexpr auto netlink = make<AF_NETLINK, SOCK_RAW, protocol>;

constexpr Attempt attempts[] = {
    {"tcp_socket", "TCP can be spoken at all", make<AF_INET, SOCK_STREAM, 0>},
    {"tcp6_socket", "TCP can be spoken over IPv6 at all", make<AF_INET6, SOCK_STREAM, 0>},
    {"udp_socket", "UDP can be spoken at all", make<AF_INET, SOCK_DGRAM, 0>},
    {"udp6_socket", "UDP can be spoken over IPv6 at all", make<AF_INET6, SOCK_DGRAM, 0>},
    {"mptcp_socket", "connections pass rules for TCP", make<AF_INET, SOCK_STREAM, multipath_tcp>},
    {"mptcp6_socket", "connections pass rules for TCP", make<AF_INET6, SOCK_STREAM, multipath_tcp>},
    {"sctp_socket", "connections pass rules for TCP", make<AF_INET, SOCK_STREAM, IPPROTO_SCTP>},
    {"dccp_socket", "connections pass rules for TCP", make<AF_INET, 6, IPPROTO_DCCP>},
    {"light_udp_socket", "datagrams pass rules for UDP", make<AF_INET, SOCK_DGRAM, light_udp>},
    {"ping_socket", "echo requests carry data out", make<AF_INET, SOCK_DGRAM, IPPROTO_ICMP>},
    {"raw_socket", "packets can be forged", make<AF_INET, SOCK_RAW, IPPROTO_ICMP>},
    {"packet_socket", "the traffic of the host can be heard", make<AF_PACKET, SOCK_DGRAM, 0>},
    {"packet_socket_high_bits", "the traffic can be heard past a filter", make_packet_high},
    {"unix_socket", "services of the host can be asked", make<AF_UNIX, SOCK_STREAM, 0>},
    {"vsock_socket", "the hypervisor can be reached past any network namespace",
     make<AF_VSOCK, SOCK_STREAM, 0>},
    {"vsock_socket_high_bits", "the hypervisor can be reached past a filter", make_vsock_high},
    {"alg_socket", "the kernel's ciphers are within reach", make<AF_ALG, SOCK_SEQPACKET, 0>},
    {"xdp_socket", "packets go past the network stack", make<family_xdp, SOCK_RAW, 0>},
    {"kcm_socket", "rarely used code of the kernel", make<AF_KCM, SOCK_DGRAM, 0>},
    {"tipc_socket", "rarely used code of the kernel", make<AF_TIPC, SOCK_RDM, 0>},
    {"bluetooth_socket", "devices nearby are within reach", make<AF_BLUETOOTH, SOCK_RAW, 1>},
    {"can_socket", "buses of machines are within reach", make<AF_CAN, SOCK_RAW, 1>},
    {"rds_socket", "rarely used code of the kernel", make<AF_RDS, SOCK_SEQPACKET, 0>},
    {"smc_socket", "rarely used code of the kernel", make<family_smc, SOCK_STREAM, 0>},
    {"rxrpc_socket", "rarely used code of the kernel", make<AF_RXRPC, SOCK_DGRAM, AF_INET>},
    {"netlink_audit", "the audit log can be written", netlink<NETLINK_AUDIT>},
    {"netlink_events", "devices that come and go can be watched", netlink<NETLINK_KOBJECT_UEVENT>},
    {"netlink_filter", "packet filters, a source of many holes", netlink<NETLINK_NETFILTER>},
    {"netlink_ipsec", "rules for encryption of packets", netlink<NETLINK_XFRM>},
    {"netlink_sockets", "the connections of others are in sight", netlink<NETLINK_SOCK_DIAG>},
    {"netlink_generic", "it reaches many drivers", netlink<NETLINK_GENERIC>},
    {"netlink_crypto", "the kernel's ciphers are within reach", netlink<NETLINK_CRYPTO>},
};

}  // namespace

std::span<const Attempt> sockets_attempts() { return attempts; }

}  // namespace cellblock::probe
