#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "supervisor/daemon/helpers/gateway_link.h"
#include "supervisor/daemon/run/daemon.h"
#include "supervisor/daemon/run/refusal.h"

namespace cellblock::daemon {

// Carries out the decisions of the user table. Events are in daemon.cc.

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
  // Fails closed for this user only: the launcher ends the gateway if it asks for one of these
  // servers.
  if (!told) spdlog::error("cannot permit servers for uid {}: {}", action.uid, told.error().text);
}

void Daemon::carry_out(const PermitOnly& action) {
  const auto told = launcher_.tell({.kind = wire::SupervisorRequestKind::permit_only,
                                    .uid = action.uid,
                                    .servers = action.servers});
  if (told) return;
  // The gateway could still start the servers that the user has lost.
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
    // Logged once a sweep, since a user may connect in a loop.
    if (not_taken_said_.insert(action.uid).second)
      spdlog::warn("gateway for uid {} takes no connection: {}", action.uid, sent.error().text());
    on_session_closed(action.uid, action.connection);
    return refuse(take_pending(action.connection), FailureCode::too_many);
  }
  // The connection is the gateway's now, but this copy is not closed here: if the gateway has
  // closed its own already, or died with the message unread, this is the last one.
  close_later(take_pending(action.connection));
}

void Daemon::carry_out(const Refuse& action) {
  refuse(take_pending(action.connection), action.code);
}

void Daemon::carry_out(const StopIdleGateway& action) {
  gateways_.erase(action.uid);
  close_admin_socket(action.uid);
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
      // The launcher reports the cause soon after.
      .gone = [this, uid] { act(table_.expel(uid)); },
      .broken = [this, uid](const Error& why) { on_gateway_broken(uid, why); },
  };
}

// What administrators may: look after users' gateways, and switch everything off.

namespace {

constexpr std::string_view for_admins_only =
    "Only administrators may come in here: root and those whom daemon.admins names, and nobody to "
    "his own gateway.";
constexpr std::string_view disabled_by_configuration =
    "The configuration says enabled = false: that has to be changed there.";
constexpr std::string_view not_kept =
    "Switched off, but only until cellblockd ends: the state directory cannot be written.";
constexpr std::string_view not_enabled =
    "Still switched off: the file that says so cannot be removed from the state directory.";

// A file has room for all servers; the socket's buffer may not.
SysResult<void> send_status(int socket, const std::string& json) {
  const Fd sealed = CELLBLOCK_TRY(make_sealed("cellblock-status", std::as_bytes(std::span(json))));
  constexpr char mark = 'S';
  const std::array fds{sealed.get()};
  return send_record(socket, mark, fds, MSG_DONTWAIT);
}

/// Sends constants only: the administrator's reason is for the users who are refused.
void tell_switched(int socket, AdminSwitch which) {
  const std::string line =
      std::string(R"({"jsonrpc":"2.0","method":"cellblock/switched","params":{"enabled":)") +
      (which == AdminSwitch::enable ? "true" : "false") + "}}\n";
  static_cast<void>(::send(socket, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace

// Without these sockets (a path may be too long) the daemon still does its work.
void Daemon::make_admin_sockets() {
  if (kill_switch_.is_off())
    spdlog::warn("switched off by an administrator: see \"cellblock enable\"");
  auto sockets = AdminSockets::make(
      loop_, config_,
      {.at_user = [this](std::uint32_t user, Fd socket) { on_admin(user, std::move(socket)); },
       .at_switch = [this](AdminSwitch which, Fd socket) { on_switch(which, std::move(socket)); },
       .at_reload = [this](Fd socket) { on_reload_peer(std::move(socket)); },
       .at_status = [this](Fd socket) { on_status_asked(std::move(socket)); },
       .close_later = [this](Fd socket) { close_later(std::move(socket)); }});
  if (sockets) {
    admin_sockets_ = std::move(*sockets);
  } else {
    spdlog::warn("administrators cannot come in: {}", sockets.error().text);
  }
}

void Daemon::open_admin_socket(std::uint32_t user) {
  if (!admin_sockets_ || !table_.runs(user)) return;
  const auto opened = admin_sockets_->open(user);
  if (!opened) spdlog::warn("no administrator can reach uid {}: {}", user, opened.error().text);
}

void Daemon::close_admin_socket(std::uint32_t user) {
  if (admin_sockets_) admin_sockets_->close(user);
}

void Daemon::on_admin(std::uint32_t user, Fd socket) {
  auto peer = identify(socket.get());
  if (!peer) return refuse_unidentified(std::move(socket), peer.error());
  if (!may_administer(*peer, user, config_)) {
    return refuse_admin(std::move(socket), *peer, "connect",
                        fmt::format("the gateway of uid {}", user));
  }
  peer->via = wire::SessionVia::admin;
  const Connection connection = next_connection();
  pending_.emplace(connection, Pending{std::move(socket), std::move(*peer)});
  act(table_.admin_connected(user, connection));
}

void Daemon::refuse_admin(Fd socket, const Peer& peer, std::string_view which,
                          const std::string& whose) {
  record_refused(peer, which, whose);
  write_refusal(socket.get(), FailureCode::denied, for_admins_only);
  turn_away(std::move(socket));
}

// The record has only the kernel's facts about the peer and the socket's name, no text of the peer.
void Daemon::record_refused(const Peer& peer, std::string_view which, const std::string& whose) {
  // One user may have many ids, so users that no list names share one place.
  const bool is_named = may_connect(peer, config_);
  if (!refused_attempts_.add(is_named ? fmt::format("uid {}", peer.uid)
                                      : "users whom no list names"))
    return;
  spdlog::warn("refused an attempt of uid {} (pid {}) at administrators' socket \"{}\"{}", peer.uid,
               peer.pid, which, whose.empty() ? "" : ": " + whose);
  audit_queue_.add(
      record_of(Switched{
          .which = which, .by = peer.uid, .pid = peer.pid, .outcome = wire::AuditOutcome::denied}),
      whose);
}

// The most records that an honest cellblock-http sends in a minute: a few for each counted address,
// and a sum.
constexpr std::uint32_t most_wrong_tokens =
    RefusedAttempts::most_known * (RefusedAttempts::recorded_each + 1) + 1;

void Daemon::record_wrong_token(const std::string& from, std::uint32_t requests) {
  // While there is no writer, these records must not displace those of administrators.
  const bool has_room = audit_queue_.kept() < SupervisorAuditQueue::most / 2;
  if (++wrong_tokens_ > most_wrong_tokens || !has_room) return;
  wire::AuditRecord record = record_of(Switched{
      .which = "http_token", .by = ::getuid(), .pid = 0, .outcome = wire::AuditOutcome::denied});
  record.reason = {};
  std::ranges::copy(std::string_view("unknown_token"), record.reason.begin());
  record.count = requests;
  audit_queue_.add(record, "from " + from);
}

void Daemon::tell_refused_attempts() {
  const auto span = refused_attempts_.end_span();
  for (const auto& [who, count] : span.left_out) {
    spdlog::warn("refused {} more attempts of {} at administrators' sockets", count, who);
  }
  if (span.of_others > 0) {
    spdlog::warn("refused {} attempts of other users at administrators' sockets", span.of_others);
  }
}

// A refusal is not logged: "cellblock status" tries this socket for every user.
void Daemon::on_status_asked(Fd socket) {
  const auto peer = identify(socket.get());
  if (!peer) return refuse_unidentified(std::move(socket), peer.error());
  if (!is_admin(*peer, config_)) {
    write_refusal(socket.get(), FailureCode::denied, for_admins_only);
    return turn_away(std::move(socket));
  }
  if (const auto sent = send_status(socket.get(), installation_json(config_, state(), declared_));
      !sent) {
    spdlog::warn("uid {} could not be sent the status: {}", peer->uid, sent.error().text());
  }
  ::shutdown(socket.get(), SHUT_RDWR);
  close_later(std::move(socket));
}

InstallationState Daemon::state() const {
  const auto& why = kill_switch_.why();
  return {.switched_off = kill_switch_.is_off(),
          .switched_by = why ? std::optional(why->by) : std::nullopt,
          .reason = why ? why->reason : "",
          .audit_runs = audit_.running(),
          .users = gateways_.size(),
          .cells = cells_,
          .last_failure = last_failure_};
}

void Daemon::on_switch(AdminSwitch which, Fd socket) {
  const auto peer = identify(socket.get());
  if (!peer) return refuse_unidentified(std::move(socket), peer.error());
  if (!is_admin(*peer, config_)) return refuse_admin(std::move(socket), *peer, name_of(which), "");
  kill_switch_listener_.add({.which = which, .uid = peer->uid, .pid = peer->pid},
                            std::move(socket));
}

void Daemon::on_switch_said(const KillSwitchListener::Asker& asker, Fd socket,
                            const Result<std::string>& reason) {
  if (!reason) {
    write_refusal(socket.get(), FailureCode::invalid_request, reason.error().text);
    return turn_away(std::move(socket));
  }
  const bool is_disable = asker.which == AdminSwitch::disable;
  const std::string_view fault = is_disable ? disable(asker.uid, *reason) : enable(asker.uid);
  audit_queue_.add(
      record_of({.which = name_of(asker.which),
                 .by = asker.uid,
                 .pid = asker.pid,
                 .outcome = fault.empty() ? wire::AuditOutcome::ok : wire::AuditOutcome::error}),
      *reason);
  tell_service();
  if (fault.empty()) {
    tell_switched(socket.get(), asker.which);
  } else {
    write_refusal(socket.get(), FailureCode::disabled, fault);
  }
  ::shutdown(socket.get(), SHUT_RDWR);
  close_later(std::move(socket));
}

std::string_view Daemon::disable(std::uint32_t by, const std::string& reason) {
  if (!kill_switch_.is_off()) spdlog::warn("switched off by uid {}", by);
  const auto kept = kill_switch_.disable({.by = by, .reason = reason});
  act(table_.admit(Admission::disabled));
  end_leaving_soon();
  return kept ? std::string_view{} : not_kept;
}

// After a disable nothing runs: gateways that do not end by themselves are killed.
void Daemon::end_leaving_soon() {
  if (stopping_) return;
  stop_timer_.expires_after(stop_patience());
  stop_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) act(table_.end_leaving());
  });
}

std::string_view Daemon::enable(std::uint32_t by) {
  if (kill_switch_.is_off()) spdlog::warn("switched on by uid {}", by);
  const auto enabled = kill_switch_.enable();
  if (!enabled) return not_enabled;
  if (!config_.enabled) return disabled_by_configuration;
  if (!stopping_) act(table_.admit(Admission::open));
  return {};
}

}  // namespace cellblock::daemon
