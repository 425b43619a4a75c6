#include "supervisor/daemon/admins/administration.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <span>
#include <utility>

#include "supervisor/daemon/sockets/peer_credentials.h"
#include "supervisor/daemon/users/refusal.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::daemon {
namespace {

constexpr std::string_view for_admins_only =
    "Only administrators may come in here: root and those whom daemon.admins names, and nobody to "
    "his own gateway.";
constexpr std::string_view for_root_only =
    "Only root brings another configuration; with --user, the user himself.";
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

// Sends constants only: the administrator's reason is for the users who are refused.
void send_switched(int socket, AdminSwitch which) {
  const std::string line =
      std::string(R"({"jsonrpc":"2.0","method":"cellblock/switched","params":{"enabled":)") +
      (which == AdminSwitch::enable ? "true" : "false") + "}}\n";
  static_cast<void>(::send(socket, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace

Administration::Administration(boost::asio::io_context& loop, const Parts& parts, Around around)
    : config_(parts.config),
      kill_switch_(parts.kill_switch),
      audit_queue_(parts.audit_queue),
      ender_(parts.ender),
      gateways_(parts.gateways),
      refusals_(parts.refusals),
      around_(std::move(around)),
      kill_switch_listener_(loop,
                            {.said = std::bind_front(&Administration::on_switch_said, this)}) {}

// --- the sockets --------------------------------------------------------------------------------

void Administration::listen(boost::asio::io_context& loop) {
  if (kill_switch_.is_off())
    spdlog::warn("switched off by an administrator: see \"cellblock enable\"");
  auto sockets = AdminSockets::make(
      loop, config_,
      {.at_user = [this](std::uint32_t user, Fd socket) { on_visitor(user, std::move(socket)); },
       .at_switch = [this](AdminSwitch which, Fd socket) { on_switch(which, std::move(socket)); },
       .at_reload = [this](Fd socket) { on_reloader(std::move(socket)); },
       .at_status = [this](Fd socket) { on_status_asked(std::move(socket)); },
       .close_later = [this](Fd socket) { ender_.close_later(std::move(socket)); }});
  if (sockets) {
    sockets_ = std::move(*sockets);
  } else {
    spdlog::warn("administrators cannot come in: {}", sockets.error().text);
  }
}

void Administration::open(std::uint32_t user) {
  if (!sockets_) return;
  const auto opened = sockets_->open(user);
  if (!opened) spdlog::warn("no administrator can reach uid {}: {}", user, opened.error().text);
}

void Administration::close(std::uint32_t user) {
  if (sockets_) sockets_->close(user);
}

void Administration::reconfigure() {
  if (!sockets_) return;
  const auto admitted = sockets_->reconfigure(config_);
  if (!admitted) spdlog::error("administrators' sockets: {}", admitted.error().text);
}

void Administration::hold() {
  if (sockets_) sockets_->hold();
}

void Administration::go_on() {
  if (sockets_) sockets_->go_on();
}

void Administration::stop() {
  if (sockets_) sockets_->close_all();
  kill_switch_listener_.close();
}

// --- visits, reload, status ---------------------------------------------------------------------

void Administration::refuse(Fd socket, const Peer& peer, std::string_view which,
                            const std::string& whose) {
  refusals_.record(peer, which, whose);
  ender_.refuse(std::move(socket), FailureCode::denied, for_admins_only);
}

void Administration::on_visitor(std::uint32_t user, Fd socket) {
  auto peer = identify(socket.get());
  if (!peer) return ender_.refuse_unidentified(std::move(socket), peer.error());
  if (!may_administer(*peer, user, config_)) {
    return refuse(std::move(socket), *peer, "connect", fmt::format("the gateway of uid {}", user));
  }
  gateways_.connect_admin(user, std::move(socket), std::move(*peer));
}

void Administration::on_reloader(Fd socket) {
  const auto peer = identify(socket.get());
  if (!peer) return ender_.refuse_unidentified(std::move(socket), peer.error());
  if (!may_reload(*peer, config_)) {
    refusals_.record(*peer, "reload", "");
    return ender_.refuse(std::move(socket), FailureCode::denied, for_root_only);
  }
  around_.reload(*peer, std::move(socket));
}

// A refusal is not logged: "cellblock status" tries this socket for every user.
void Administration::on_status_asked(Fd socket) {
  const auto peer = identify(socket.get());
  if (!peer) return ender_.refuse_unidentified(std::move(socket), peer.error());
  if (!is_admin(*peer, config_)) {
    return ender_.refuse(std::move(socket), FailureCode::denied, for_admins_only);
  }
  if (const auto sent = send_status(socket.get(), around_.status()); !sent) {
    spdlog::warn("uid {} could not be sent the status: {}", peer->uid, sent.error().text());
  }
  ender_.end(std::move(socket));
}

// --- the kill switch ----------------------------------------------------------------------------

void Administration::on_switch(AdminSwitch which, Fd socket) {
  const auto peer = identify(socket.get());
  if (!peer) return ender_.refuse_unidentified(std::move(socket), peer.error());
  if (!is_admin(*peer, config_)) return refuse(std::move(socket), *peer, name_of(which), "");
  kill_switch_listener_.add({.which = which, .uid = peer->uid, .pid = peer->pid},
                            std::move(socket));
}

void Administration::on_switch_said(const KillSwitchListener::Asker& asker, Fd socket,
                                    const Result<std::string>& reason) {
  if (!reason) {
    return ender_.refuse(std::move(socket), FailureCode::invalid_request, reason.error().text);
  }
  const bool is_disable = asker.which == AdminSwitch::disable;
  const std::string_view fault = is_disable ? disable(asker.uid, *reason) : enable(asker.uid);
  audit_queue_.add(
      record_of({.which = name_of(asker.which),
                 .by = asker.uid,
                 .pid = asker.pid,
                 .outcome = fault.empty() ? wire::AuditOutcome::ok : wire::AuditOutcome::error}),
      *reason);
  around_.switched();
  if (fault.empty()) {
    send_switched(socket.get(), asker.which);
  } else {
    write_refusal(socket.get(), FailureCode::disabled, fault);
  }
  ender_.end(std::move(socket));
}

std::string_view Administration::disable(std::uint32_t by, const std::string& reason) {
  if (!kill_switch_.is_off()) spdlog::warn("switched off by uid {}", by);
  const auto kept = kill_switch_.disable({.by = by, .reason = reason});
  gateways_.admit(Admission::disabled);
  return kept ? std::string_view{} : not_kept;
}

std::string_view Administration::enable(std::uint32_t by) {
  if (kill_switch_.is_off()) spdlog::warn("switched on by uid {}", by);
  const auto enabled = kill_switch_.enable();
  if (!enabled) return not_enabled;
  if (!config_.enabled) return disabled_by_configuration;
  gateways_.admit(Admission::open);
  return {};
}

}  // namespace cellblock::daemon
