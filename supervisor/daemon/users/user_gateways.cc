#include "supervisor/daemon/users/user_gateways.h"

#include <spdlog/spdlog.h>

#include <cerrno>
#include <utility>
#include <variant>

#include "policy/config/stop_time.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds stop_slack{2'000};
constexpr milliseconds longest_stop{30'000};

constexpr std::string_view not_closed =
    "What came with earlier connections of this user keeps them from being closed (files of a file "
    "system that does not answer?); end what sent it and try again.";

Bounds bounds_of(const Listen& listen) {
  Bounds bounds;
  bounds.connections_per_user = listen.max_connections_per_user;
  bounds.users = listen.max_users;
  return bounds;
}

bool is_peer_gone(const SysError& error) {
  return error.number == EPIPE || error.number == ECONNRESET;
}

}  // namespace

milliseconds stop_patience(const Config& config) {
  return time_to_stop(config, stop_slack, longest_stop);
}

UserGateways::UserGateways(boost::asio::io_context& loop, const Parts& parts, Admission admission,
                           Around around)
    : config_(parts.config),
      launcher_(parts.launcher),
      helpers_(parts.helpers),
      ender_(parts.ender),
      around_(std::move(around)),
      table_(bounds_of(config_.listen), admission),
      leaving_timer_(loop),
      gateways_(loop,
                {.config = parts.config, .launcher = parts.launcher, .helpers = parts.helpers}) {}

// --- events -------------------------------------------------------------------------------------

void UserGateways::connect(Fd socket, Peer peer) {
  if (!may_connect(peer, config_)) {
    return ender_.refuse(std::move(socket), FailureCode::not_allowlisted);
  }
  if (ender_.is_stuck(peer.uid)) {
    return ender_.refuse(std::move(socket), FailureCode::too_many, not_closed);
  }
  const Peer known = peer;
  const Connection connection = keep(std::move(socket), std::move(peer));
  act(table_.connected(known.uid, connection, servers_for(known, config_)));
  if (table_.knows(known.uid)) known_peers_.add(known);
}

void UserGateways::connect_admin(std::uint32_t user, Fd socket, Peer peer) {
  peer.via = wire::SessionVia::admin;
  const Connection connection = keep(std::move(socket), std::move(peer));
  act(table_.admin_connected(user, connection));
}

void UserGateways::started(std::uint32_t uid) {
  spdlog::info("gateway for uid {} started", uid);
  act_or_give_up(table_.gateway_started(uid));
  if (table_.runs(uid)) around_.opened(uid);
}

void UserGateways::ended(std::uint32_t uid) {
  gateways_.ended(uid);
  around_.closed(uid);
  act_or_give_up(table_.gateway_ended(uid));
  if (!table_.knows(uid)) known_peers_.forget(uid);
}

void UserGateways::renew_audit_channels() { act(table_.audit_restored()); }

void UserGateways::admit(Admission admission) {
  act(table_.admit(admission));
  if (admission == Admission::open || stopping_) return;
  leaving_timer_.expires_after(stop_patience(config_));
  leaving_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopping_) act(table_.end_leaving());
  });
}

void UserGateways::reconfigure(int sealed) {
  act(table_.permit_only(
      [this](std::uint32_t uid) { return known_peers_.servers_for(uid, config_); }));
  for (const std::uint32_t uid : gateways_.reconfigure(sealed)) {
    on_broken(uid, Error{"it does not take the new configuration"});
  }
}

void UserGateways::sweep() {
  not_taken_said_.clear();
  act(table_.sweep());
}

void UserGateways::stop() {
  stopping_ = true;
  leaving_timer_.cancel();
  act(table_.stop());
}

void UserGateways::close_waiting() {
  for (auto& [connection, pending] : std::exchange(waiting_, {})) {
    ender_.close_later(std::move(pending.socket));
  }
}

void UserGateways::on_session_closed(std::uint32_t uid, Connection connection) {
  const auto closed = table_.session_closed(uid, connection);
  if (!closed) on_broken(uid, closed.error());
}

void UserGateways::on_broken(std::uint32_t uid, const Error& why) {
  spdlog::error("gateway for uid {} breaks the protocol and is let go: {}", uid, why.text);
  act(table_.expel(uid));
}

// --- actions ------------------------------------------------------------------------------------

void UserGateways::act(const Actions& actions) {
  for (const Action& action : actions) {
    std::visit([this](const auto& chosen) { carry_out(chosen); }, action);
  }
}

void UserGateways::act_or_give_up(Result<Actions> actions) {
  if (!actions) return around_.give_up(actions.error());
  act(*actions);
}

void UserGateways::carry_out(const StartGateway& action) {
  const auto begun = gateways_.start(action.uid, action.servers, events_of(action.uid));
  if (begun) return;
  spdlog::error("cannot start a gateway for uid {}: {}", action.uid, begun.error().text);
  gateways_.ended(action.uid);
  act_or_give_up(table_.gateway_ended(action.uid));
}

void UserGateways::carry_out(const Permit& action) {
  const auto told = launcher_.tell(
      {.kind = wire::SupervisorRequestKind::permit, .uid = action.uid, .servers = action.servers});
  // Fails closed for this user only: the launcher ends the gateway if it asks for one of these
  // servers.
  if (!told) spdlog::error("cannot permit servers for uid {}: {}", action.uid, told.error().text);
}

void UserGateways::carry_out(const PermitOnly& action) {
  const auto told = launcher_.tell({.kind = wire::SupervisorRequestKind::permit_only,
                                    .uid = action.uid,
                                    .servers = action.servers});
  if (told) return;
  // The gateway could still start the servers that the user has lost.
  spdlog::error("cannot take servers from uid {}: {}", action.uid, told.error().text);
  act(table_.expel(action.uid));
}

void UserGateways::carry_out(const HandOver& action) {
  const Waiting& waiting = waiting_.at(action.connection);
  if (waiting.peer.via == wire::SessionVia::admin) {
    helpers_.audit_queue().add(
        record_of(AdminConnected{
            .by = waiting.peer.uid, .pid = waiting.peer.pid, .connection = action.connection}),
        gateway_text(helpers_.audit().gateway_name(action.uid), action.uid));
  }
  const GatewayLink* gateway = gateways_.find(action.uid);
  if (gateway == nullptr) return act(table_.not_handed_over(action.uid, action.connection));
  const auto sent = gateway->hand_over(action.connection, waiting.peer, waiting.socket.get());
  if (!sent && is_peer_gone(sent.error())) {
    return act(table_.not_handed_over(action.uid, action.connection));
  }
  if (!sent) {
    // Logged once a sweep, since a user may connect in a loop.
    if (not_taken_said_.insert(action.uid).second)
      spdlog::warn("gateway for uid {} takes no connection: {}", action.uid, sent.error().text());
    on_session_closed(action.uid, action.connection);
    return ender_.refuse(take(action.connection), FailureCode::too_many);
  }
  // The connection is the gateway's now, but this copy is not closed here: if the gateway has
  // closed its own already, or died with the message unread, this is the last one.
  ender_.close_later(take(action.connection));
}

void UserGateways::carry_out(const Refuse& action) {
  ender_.refuse(take(action.connection), action.code);
}

void UserGateways::carry_out(const StopIdleGateway& action) {
  gateways_.close(action.uid);
  around_.closed(action.uid);
}

void UserGateways::carry_out(const EndGateway& action) {
  const auto told =
      launcher_.tell({.kind = wire::SupervisorRequestKind::end_gateway, .uid = action.uid});
  if (!told) spdlog::error("cannot end the gateway for uid {}: {}", action.uid, told.error().text);
}

void UserGateways::carry_out(const RenewAuditChannel& action) {
  if (const auto renewed = gateways_.renew_audit_channel(action.uid); !renewed) {
    spdlog::error("gateway for uid {} has no audit channel: {}", action.uid, renewed.error().text);
  }
}

GatewayLink::Events UserGateways::events_of(std::uint32_t uid) {
  return {
      .session_closed = [this, uid](Connection connection) { on_session_closed(uid, connection); },
      // The launcher reports the cause soon after.
      .gone = [this, uid] { act(table_.expel(uid)); },
      .broken = [this, uid](const Error& why) { on_broken(uid, why); },
  };
}

Connection UserGateways::keep(Fd socket, Peer peer) {
  do {
    ++last_connection_;
  } while (last_connection_ == 0 || waiting_.contains(last_connection_));
  waiting_.emplace(last_connection_, Waiting{std::move(socket), std::move(peer)});
  return last_connection_;
}

Fd UserGateways::take(Connection connection) {
  const auto pending = waiting_.find(connection);
  Fd socket = std::move(pending->second.socket);
  waiting_.erase(pending);
  return socket;
}

}  // namespace cellblock::daemon
