#include "supervisor/gateway/supervisor_channel.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace cellblock::gateway {

SupervisorChannel::SupervisorChannel(EventLoop& loop, Fd socket, Receiver receiver)
    : receiver_(std::move(receiver)),
      reader_(loop, std::move(socket),
              {.record =
                   [this](const wire::SessionGrant& grant, std::vector<Fd> fds) {
                     if (!accept(grant, std::move(fds))) {
                       receiver_.broken("sent a record that makes no sense");
                     }
                   },
               .closed = receiver_.closed,
               .broken = receiver_.broken}),
      sender_(reader_.watch(), reader_.socket()) {}

void SupervisorChannel::session_closed(std::uint32_t connection) {
  if (reader_.has_ended()) return;
  switch (sender_.send({.connection = connection})) {
    case SendStatus::ok:
      return;
    case SendStatus::closed:
      return reader_.end();
    case SendStatus::overflowed:
      return receiver_.broken("reads nothing");
  }
}

bool SupervisorChannel::accept(const wire::SessionGrant& grant, std::vector<Fd> fds) {
  if (grant.kind == wire::SupervisorSends::session && fds.empty()) {
    spdlog::warn("a connection is lost: no descriptor is free");
    session_closed(grant.connection);
    return true;
  }
  if (fds.size() != 1 || grant.group_count > wire::max_groups) return false;
  switch (grant.kind) {
    case wire::SupervisorSends::session:
      receiver_.session(grant, std::move(fds.front()));
      return true;
    case wire::SupervisorSends::audit_channel:
      receiver_.audit_channel(std::move(fds.front()));
      return true;
    case wire::SupervisorSends::config:
      receiver_.config(std::move(fds.front()));
      return true;
  }
  return false;
}

}  // namespace cellblock::gateway
