#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/activation/bound_sockets.h"
#include "supervisor/activation/service_notify.h"
#include "supervisor/activation/service_offer.h"
#include "supervisor/activation/socket_path.h"
#include "supervisor/daemon/admins/administration.h"
#include "supervisor/daemon/admins/refusal_recorder.h"
#include "supervisor/daemon/helpers/helpers.h"
#include "supervisor/daemon/logs/log_relay.h"
#include "supervisor/daemon/reload/config_reload.h"
#include "supervisor/daemon/sockets/kill_switch.h"
#include "supervisor/daemon/sockets/listener.h"
#include "supervisor/daemon/status/service_reporter.h"
#include "supervisor/daemon/users/connection_ender.h"
#include "supervisor/daemon/users/user_gateways.h"
#include "supervisor/handover/launcher_process.h"
#include "supervisor/ipc/wire.h"

/// The running supervisor: the event loop, and the order in which its parts start, reload and stop.
/// The only class that knows all parts. One thread.
namespace cellblock::daemon {

class Daemon {
 public:
  /// What outlives the daemon. A reload changes `config` in place.
  struct Around {
    Config& config;
    LauncherProcess& launcher;
    LogRelay& relay;
    const ServiceNotify& service;
  };
  struct Owned {
    std::string declared;  ///< the configuration's parts for administrators (declared_parts.h)
    AuditFiles audit_log;
    KillSwitch kill_switch;
    ReloadFacts reload_facts;
    Fd program;  ///< cellblockd
  };

  Daemon(const Around& around, Owned owned);
  ~Daemon();
  Daemon(Daemon&&) = delete;
  Daemon& operator=(Daemon&&) = delete;

  /// Starts the audit writer, and cellblock-http and cellblock-metrics if the configuration has
  /// them. Blocking, `timeout` for each; call before serve().
  Result<void> start_helpers(HttpSockets http_sockets, MetricsSocket metrics_socket,
                             std::chrono::milliseconds timeout);

  /// Listens, reports readiness, and serves until a signal to stop. Then refuses new connections
  /// and gives the gateways time to end their sessions. An error: the launcher died.
  Result<void> serve(BoundSocket socket, const ServiceOffer& offer);

  /// Closes every connection after serve(). Returns the children that still close some; how long
  /// they take is up to their peers.
  std::vector<pid_t> close_connections();

 private:
  Result<void> listen(BoundSocket socket);

  // Events.
  void on_connection(Fd socket);
  Result<Fd> open_http_session(const Peer& peer);
  void on_launcher_report();
  void handle(const wire::LauncherReport& report);
  void on_gateway_ended(const wire::LauncherReport& report);
  void on_audit_started();
  void on_audit_ended(const wire::LauncherReport& report);
  void on_signal();
  void wait_for_signal();
  void sweep_later();
  void hold();
  void go_on();

  void use(Config config, std::string declared, const Fd& sealed);
  Admission admission() const;
  ServiceFacts facts() const;
  std::string status() const;

  void start_stopping();
  void finish_when_empty();
  void give_up(const Error& why);

  Config& config_;
  std::string declared_;
  LauncherProcess& launcher_;
  LogRelay& relay_;
  KillSwitch kill_switch_;
  boost::asio::io_context loop_{1};
  Helpers helpers_;
  ConnectionEnder ender_;
  UserGateways gateways_;
  RefusalRecorder refusals_;
  Administration administration_;
  ServiceReporter service_;
  ConfigReload reload_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer sweep_timer_;
  boost::asio::steady_timer stop_timer_;
  std::unique_ptr<Listener> listener_;
  std::optional<BoundSocket> socket_;
  std::string last_failure_;  ///< of a gateway or the audit writer
  bool stopping_ = false;
  std::optional<Error> cause_;  ///< the first error that made it give up
};

}  // namespace cellblock::daemon
