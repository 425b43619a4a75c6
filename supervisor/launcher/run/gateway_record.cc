#include "supervisor/launcher/run/gateway_record.h"

#include <sys/socket.h>

#include <cerrno>

namespace cellblock::launcher {
namespace {

using Kind = GatewayRecord::Kind;

// The kernel says MSG_CTRUNC for what there is no room for. It drops references then, of which a
// peeked record keeps others; it puts nothing into the table of descriptors.
Kind receive(int channel, wire::GatewayRequest& request, int flags) {
  iovec part{&request, sizeof request};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const ssize_t count = recvmsg(channel, &message, MSG_DONTWAIT | flags);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? Kind::nothing : Kind::nonsense;
  if ((message.msg_flags & MSG_CTRUNC) != 0) return Kind::attached;
  if (count == 0) return Kind::closed;
  const bool whole = count == sizeof request && (message.msg_flags & MSG_TRUNC) == 0;
  return whole ? Kind::request : Kind::nonsense;
}

}  // namespace

GatewayRecord receive_from_gateway(int channel) {
  GatewayRecord record;
  record.kind = receive(channel, record.request, MSG_PEEK);
  if (record.kind == Kind::request) record.kind = receive(channel, record.request, 0);
  return record;
}

}  // namespace cellblock::launcher
