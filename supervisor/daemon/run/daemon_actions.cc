#include <spdlog/spdlog.h>

#include <cerrno>
#include <utility>
#include <variant>
#include <vector>

#include "supervisor/daemon/run/daemon.h"
#include "supervisor/daemon/run/gateway_request.h"

/// What the user table decides, carried out; what happens is in daemon.cc.
namespace cellblock::daemon {
namespace {

bool is_peer_gone(const SysError& error) {
  return error.number == EPIPE || error.number == ECONNRESET;
}

}  // namespace

void Daemon::act(const Actions& actions) {
  for (const Action& action : actions) {
    std::visit([this](const auto& chosen) { carry_out(chosen); }, action);
  }
}

void Daemon::act_or_give_up(Result<Actions> actions) {
  if (!actions) return give_up(actions.error());
  act(*actions);
}

void Daemon::carry_out(const StartGateway& action) {
  const auto started = start_gateway(action);
  if (started) return;
  spdlog::error("cannot start a gateway for uid {}: {}", action.uid, started.error().text);
  gateways_.erase(action.uid);
  if (metrics_) metrics_->end_gateway(action.uid);
  act_or_give_up(table_.gateway_ended(action.uid));
}

void Daemon::carry_out(const Permit& action) {
  const auto told = launcher_.tell(
      {.kind = wire::SupervisorRequestKind::permit, .uid = action.uid, .servers = action.servers});
  // Fails closed, for this user only: his gateway is ended when it asks for one of these.
  if (!told) spdlog::error("cannot permit servers for uid {}: {}", action.uid, told.error().text);
}

void Daemon::carry_out(const PermitOnly& action) {
  const auto told = launcher_.tell({.kind = wire::SupervisorRequestKind::permit_only,
                                    .uid = action.uid,
                                    .servers = action.servers});
  if (told) return;
  // What was taken from him could still be started.
  spdlog::error("cannot take servers from uid {}: {}", action.uid, told.error().text);
  act(table_.expel(action.uid));
}

void Daemon::carry_out(const HandOver& action) {
  const Pending& waiting = pending_.at(action.connection);
  if (waiting.peer.via == wire::SessionVia::admin) {
    audit_queue_.add(
        record_of(AdminConnected{
            .by = waiting.peer.uid, .pid = waiting.peer.pid, .connection = action.connection}),
        gateway_text(audit_.gateway_name(action.uid), action.uid));
  }
  const auto gateway = gateways_.find(action.uid);
  if (gateway == gateways_.end()) return act(table_.not_handed_over(action.uid, action.connection));
  const auto sent =
      gateway->second->hand_over(action.connection, waiting.peer, waiting.socket.get());
  if (!sent && is_peer_gone(sent.error())) {
    return act(table_.not_handed_over(action.uid, action.connection));
  }
  if (!sent) {
    // A user may connect in a loop.
    if (not_taken_said_.insert(action.uid).second)
      spdlog::warn("gateway for uid {} takes no connection: {}", action.uid, sent.error().text());
    on_session_closed(action.uid, action.connection);
    return refuse(take_pending(action.connection), FailureCode::too_many);
  }
  // From now on it is the gateway's, but even so no copy is closed here: if the gateway is done
  // with it already, or died with the message unread, ours is the last one.
  close_later(take_pending(action.connection));
}

void Daemon::carry_out(const Refuse& action) {
  refuse(take_pending(action.connection), action.code);
}

void Daemon::carry_out(const StopIdleGateway& action) {
  gateways_.erase(action.uid);
  close_door(action.uid);
}

void Daemon::carry_out(const EndGateway& action) {
  const auto told =
      launcher_.tell({.kind = wire::SupervisorRequestKind::end_gateway, .uid = action.uid});
  if (!told) spdlog::error("cannot end the gateway for uid {}: {}", action.uid, told.error().text);
}

void Daemon::carry_out(const RenewAuditChannel& action) {
  if (const auto renewed = renew_audit_channel(action.uid); !renewed) {
    spdlog::error("gateway for uid {} has no audit channel: {}", action.uid, renewed.error().text);
  }
}

Result<void> Daemon::start_gateway(const StartGateway& action) {
  const std::uint32_t uid = action.uid;
  Pair supervisor = CELLBLOCK_TRY(make_seqpacket_pair());
  Pair audit = CELLBLOCK_TRY(make_seqpacket_pair());
  CELLBLOCK_CHECK(audit_.name_gateway(uid));
  std::vector<int> fds{supervisor.second.get(), audit.second.get()};
  Fd page;
  if (metrics_) page = CELLBLOCK_TRY(metrics_->begin_gateway(uid));
  if (page.valid()) fds.push_back(page.get());
  CELLBLOCK_CHECK(launcher_.tell(gateway_request(uid, action.servers, config_), fds));
  gateways_[uid] =
      std::make_unique<GatewayLink>(loop_, uid, std::move(supervisor.first), events_of(uid));
  // Without a writer the channel is dead, the gateway refuses calls, and gets a new one later.
  if (const auto added = audit_.add_source(uid, std::move(audit.first)); !added) {
    spdlog::warn("gateway for uid {} starts without audit: {}", uid, added.error().text);
  }
  return {};
}

Result<void> Daemon::renew_audit_channel(std::uint32_t uid) {
  Pair audit = CELLBLOCK_TRY(make_seqpacket_pair());
  CELLBLOCK_CHECK(audit_.add_source(uid, std::move(audit.first)));
  CELLBLOCK_CHECK(gateways_.at(uid)->renew_audit_channel(audit.second.get()));
  return {};
}

GatewayLink::Events Daemon::events_of(std::uint32_t uid) {
  return {
      .session_closed = [this, uid](Connection connection) { on_session_closed(uid, connection); },
      // How it ended is reported by the launcher, soon after.
      .gone = [this, uid] { act(table_.expel(uid)); },
      .broken = [this, uid](const Error& why) { on_gateway_broken(uid, why); },
  };
}

}  // namespace cellblock::daemon
