#include "supervisor/launcher/gateway_record.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace cellblock::launcher {
namespace {

// The kernel's SCM_MAX_FD: with less room it would close the others itself, in this process.
constexpr std::size_t most_descriptors = 253;

struct alignas(cmsghdr) Control {
  std::array<char, CMSG_SPACE(sizeof(int) * most_descriptors)> bytes{};
};

void take_descriptors(msghdr& message, std::vector<Fd>& fds) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      fds.emplace_back(number);
    }
  }
}

GatewayRecord::Kind kind_of(ssize_t count, int flags) {
  using Kind = GatewayRecord::Kind;
  if (count < 0) return errno == EAGAIN || errno == EINTR ? Kind::nothing : Kind::nonsense;
  if (count == 0) return Kind::closed;
  const bool whole =
      count == sizeof(wire::GatewayRequest) && (flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  return whole ? Kind::request : Kind::nonsense;
}

}  // namespace

GatewayRecord receive_from_gateway(int channel) {
  GatewayRecord record;
  iovec part{&record.request, sizeof record.request};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t count = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  record.kind = kind_of(count, message.msg_flags);
  if (count >= 0) take_descriptors(message, record.fds);
  // An empty record is no end of file if something came with it.
  if (record.kind == GatewayRecord::Kind::closed && !record.fds.empty()) {
    record.kind = GatewayRecord::Kind::nonsense;
  }
  return record;
}

}  // namespace cellblock::launcher
