#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "supervisor/daemon/admins/refusal_recorder.h"
#include "supervisor/daemon/helpers/supervisor_audit_queue.h"
#include "supervisor/daemon/sockets/admin_sockets.h"
#include "supervisor/daemon/sockets/kill_switch.h"
#include "supervisor/daemon/sockets/kill_switch_listener.h"
#include "supervisor/daemon/users/connection_ender.h"
#include "supervisor/daemon/users/user_gateways.h"

namespace cellblock::daemon {

/// Answers at the administrators' sockets: admits administrators to users' gateways, switches
/// everything off and on, sends the status, and passes on who may reload. One thread.
class Administration {
 public:
  struct Around {
    /// The status as raw JSON (installation_report.h).
    std::function<std::string()> status;
    /// A peer that may bring another configuration.
    std::function<void(const Peer&, Fd)> reload;
    /// Everything was switched off or on.
    std::function<void()> switched;
  };
  /// The references outlive it.
  struct Parts {
    const Config& config;
    KillSwitch& kill_switch;
    SupervisorAuditQueue& audit_queue;
    ConnectionEnder& ender;
    UserGateways& gateways;
    RefusalRecorder& refusals;
  };

  Administration(boost::asio::io_context& loop, const Parts& parts, Around around);

  /// From here administrators can connect. Without these sockets (a path may be too long) the
  /// daemon still does its work.
  void listen(boost::asio::io_context& loop);

  // That user's gateway takes connections, or takes none any more.
  void open(std::uint32_t user);
  void close(std::uint32_t user);

  /// Applies a changed configuration.
  void reconfigure();

  /// See Listener.
  void hold();
  void go_on();

  /// Accepts no connection any more, and drops those at the kill switch.
  void stop();
  /// Removes the sockets.
  void close_sockets() { sockets_.reset(); }

 private:
  void on_visitor(std::uint32_t user, Fd socket);
  void on_switch(AdminSwitch which, Fd socket);
  void on_switch_said(const KillSwitchListener::Asker& asker, Fd socket,
                      const Result<std::string>& reason);
  void on_status_asked(Fd socket);
  void on_reloader(Fd socket);
  void refuse(Fd socket, const Peer& peer, std::string_view which, const std::string& whose);
  // Return an error for the asker; empty: none.
  std::string_view disable(std::uint32_t by, const std::string& reason);
  std::string_view enable(std::uint32_t by);

  const Config& config_;
  KillSwitch& kill_switch_;
  SupervisorAuditQueue& audit_queue_;
  ConnectionEnder& ender_;
  UserGateways& gateways_;
  RefusalRecorder& refusals_;
  Around around_;
  KillSwitchListener kill_switch_listener_;
  std::unique_ptr<AdminSockets> sockets_;
};

}  // namespace cellblock::daemon
