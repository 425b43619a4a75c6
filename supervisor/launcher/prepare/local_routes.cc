#include "supervisor/launcher/prepare/local_routes.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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

}  // namespace

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

}  // namespace cellblock::launcher
