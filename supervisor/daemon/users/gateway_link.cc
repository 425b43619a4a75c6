#include "supervisor/daemon/users/gateway_link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "policy/sandbox/environment_rules.h"
#include "supervisor/os/account_names.h"

namespace cellblock::daemon {
namespace {

static_assert(wire::max_user_name == max_user_name);

bool names_its_client(const Server& server) {
  return std::ranges::any_of(server.environment, [](const EnvironmentVariable& variable) {
    return needs_user_name(variable.value);
  });
}

}  // namespace

wire::SupervisorRequest gateway_request(std::uint32_t uid, const ServerSet& servers,
                                        const Config& config) {
  wire::SupervisorRequest request{
      .kind = wire::SupervisorRequestKind::start_gateway, .uid = uid, .servers = servers};
  if (std::ranges::none_of(config.servers, names_its_client)) return request;
  const std::string name = name_of_user(uid);
  if (!is_user_name(name)) return request;
  request.user_length = static_cast<std::uint8_t>(name.size());
  std::ranges::copy(name, request.user.begin());
  return request;
}

GatewayLink::GatewayLink(boost::asio::io_context& loop, std::uint32_t uid, Fd socket, Events events)
    : uid_(uid),
      events_(std::move(events)),
      watch_(loop, std::move(socket), [this] { read_one(); }) {}

SysResult<void> GatewayLink::hand_over(std::uint32_t connection, const Peer& peer,
                                       int socket) const {
  wire::SessionGrant grant{.kind = wire::SupervisorSends::session,
                           .via = peer.via,
                           .uid = peer.uid,
                           .gid = peer.gid,
                           .pid = peer.pid,
                           .connection = connection,
                           .token = peer.token,
                           .user = uid_,
                           .group_count = static_cast<std::uint32_t>(peer.groups.size())};
  std::copy(peer.groups.begin(), peer.groups.end(), grant.groups.begin());
  const std::array<int, 1> fds{socket};
  return send_record(watch_.get(), grant, fds, MSG_DONTWAIT);
}

SysResult<void> GatewayLink::renew_audit_channel(int socket) const {
  const wire::SessionGrant grant{.kind = wire::SupervisorSends::audit_channel, .uid = uid_};
  const std::array<int, 1> fds{socket};
  return send_record(watch_.get(), grant, fds, MSG_DONTWAIT);
}

SysResult<void> GatewayLink::reconfigure(int sealed_config) const {
  const wire::SessionGrant grant{.kind = wire::SupervisorSends::config, .uid = uid_};
  const std::array<int, 1> fds{sealed_config};
  return send_record(watch_.get(), grant, fds, MSG_DONTWAIT);
}

void GatewayLink::read_one() {
  wire::SessionClosed closed;
  const auto received = receive_record(watch_.get(), closed, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return;
  // Calls a copy of the handler, since the handler may destroy this object and so itself.
  const Events events = events_;
  if (!received && received.error().number == EPIPE) return events.gone();
  if (!received) return events.broken(received.error());
  if (!received->fds.empty()) return events.broken(Error{"a descriptor where none belongs"});
  events.session_closed(closed.connection);
}

}  // namespace cellblock::daemon
