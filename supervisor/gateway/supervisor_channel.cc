#include "supervisor/gateway/supervisor_channel.h"

#include <utility>

namespace cellblock::gateway {

SupervisorChannel::SupervisorChannel(EventLoop& loop, Fd socket, Receiver receiver)
    : socket_(std::move(socket)),
      watch_(loop, socket_.get()),
      sender_(watch_, socket_.get()),
      receiver_(std::move(receiver)) {
  watch_.on_readable = [this] { readable(); };
  if (!watch_.want_read(true)) receiver_.broken("has a socket that epoll does not take");
}

void SupervisorChannel::session_closed(std::uint32_t connection) {
  if (ended_) return;
  switch (sender_.send({.connection = connection})) {
    case SendStatus::ok:
      return;
    case SendStatus::closed:
      return end();
    case SendStatus::overflowed:
      return receiver_.broken("reads nothing");
  }
}

// Its end stays readable for ever.
void SupervisorChannel::end() {
  if (std::exchange(ended_, true)) return;
  watch_.forget();
  receiver_.closed();
}

void SupervisorChannel::readable() {
  wire::SessionGrant grant;
  auto received = receive_record(socket_.get(), grant, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return;
  if (!received && is_end_of_channel(received.error())) return end();
  if (!received) return receiver_.broken("sent no record: " + received.error().text());
  if (!accept(grant, std::move(received->fds)))
    receiver_.broken("sent a record that makes no sense");
}

bool SupervisorChannel::accept(const wire::SessionGrant& grant, std::vector<Fd> fds) {
  if (fds.size() != 1 || grant.group_count > wire::max_groups) return false;
  switch (grant.kind) {
    case wire::SupervisorSends::session:
      receiver_.session(grant, std::move(fds.front()));
      return true;
    case wire::SupervisorSends::audit_channel:
      receiver_.audit_channel(std::move(fds.front()));
      return true;
  }
  return false;
}

}  // namespace cellblock::gateway
