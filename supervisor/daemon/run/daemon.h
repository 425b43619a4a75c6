#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/rates/refused_attempts.h"
#include "supervisor/activation/service_notify.h"
#include "supervisor/activation/service_offer.h"
#include "supervisor/activation/socket_path.h"
#include "supervisor/daemon/helpers/audit_link.h"
#include "supervisor/daemon/helpers/gateway_link.h"
#include "supervisor/daemon/helpers/http_host.h"
#include "supervisor/daemon/helpers/launcher_watchdog.h"
#include "supervisor/daemon/helpers/metrics_host.h"
#include "supervisor/daemon/helpers/supervisor_audit_queue.h"
#include "supervisor/daemon/run/log_relay.h"
#include "supervisor/daemon/run/reload_server.h"
#include "supervisor/daemon/run/user_table.h"
#include "supervisor/daemon/sockets/admin_sockets.h"
#include "supervisor/daemon/sockets/connection_closer.h"
#include "supervisor/daemon/sockets/kill_switch.h"
#include "supervisor/daemon/sockets/kill_switch_listener.h"
#include "supervisor/daemon/sockets/listener.h"
#include "supervisor/daemon/sockets/peer_credentials.h"
#include "supervisor/daemon/status/installation_report.h"
#include "supervisor/handover/launcher_process.h"

/// The running supervisor: reports events to the user table and carries its decisions out. The only
/// class that knows all parts. One thread.
namespace cellblock::daemon {

class Daemon {
 public:
  /// `config` and `launcher` outlive the daemon. A reload changes `config` in place. `declared`:
  /// the configuration's parts for administrators (report/declared_parts.h).
  Daemon(Config& config, std::string declared, LauncherProcess& launcher, AuditFiles audit_log,
         KillSwitch kill_switch);
  ~Daemon();
  Daemon(Daemon&&) = delete;
  Daemon& operator=(Daemon&&) = delete;

  /// Starts to read the output of cellblock's own processes. `relay` outlives the daemon.
  void relay_with(LogRelay& relay);

  /// Starts the audit writer. Blocking; call before serve().
  Result<void> start_audit(std::chrono::milliseconds timeout);

  /// Starts cellblock-http, only with [listen.http]. Blocking; call before serve().
  Result<void> start_http(HttpSockets sockets, std::chrono::milliseconds timeout);

  /// Starts cellblock-metrics, only with [metrics]. Blocking; call before serve().
  Result<void> start_metrics(MetricsSocket socket, std::chrono::milliseconds timeout);

  /// Sets what a reload needs; call before serve(). `program`: cellblockd.
  void take_reloads(ReloadFacts facts, Fd program);

  /// Listens, reports readiness, and serves until a signal to stop. Then refuses new connections
  /// and gives the gateways time to end their sessions. An error: the launcher died.
  Result<void> serve(BoundSocket socket, const ServiceNotify& service, const ServiceOffer& offer);

  /// Closes every connection after serve(). Returns the children that still close some; how long
  /// they take is up to their peers.
  std::vector<pid_t> close_connections();

 private:
  struct Pending {
    Fd socket;
    Peer peer;
  };

  // Events.
  void on_connection(Fd socket);
  void admit(Fd socket, Peer peer);
  Result<Fd> open_http_session(const Peer& peer);
  void refuse_unidentified(Fd socket, const Error& why);
  void on_admin(std::uint32_t user, Fd socket);
  void on_switch(AdminSwitch which, Fd socket);
  void on_switch_said(const KillSwitchListener::Asker& asker, Fd socket,
                      const Result<std::string>& reason);
  void on_launcher_report();
  void handle(const wire::LauncherReport& report);
  void on_gateway_started(std::uint32_t uid);
  void on_gateway_ended(const wire::LauncherReport& report);
  void on_session_closed(std::uint32_t uid, Connection connection);
  void on_gateway_broken(std::uint32_t uid, const Error& why);
  void on_launcher_well(const wire::LauncherReport& report);
  void on_reload_peer(Fd socket);
  void on_status_asked(Fd socket);
  Result<ReloadMessage> offer_reload() const;
  void on_reload_asked(const ReloadServer::Asker& asker, ReloadRequest request);
  void on_reload_answer(const wire::LauncherReport& report);
  void on_reload_signal();
  void on_reloader_ended();
  void on_audit_started();
  void on_audit_ended(const wire::LauncherReport& report);
  void on_signal();
  void sweep_later();
  void count(metrics::Metric metric) const;

  // Actions.
  void refuse(Fd socket, FailureCode code);
  void refuse_admin(Fd socket, const Peer& peer, std::string_view which, const std::string& whose);
  void record_refused(const Peer& peer, std::string_view which, const std::string& whose);
  void tell_refused_attempts();
  void record_wrong_token(const std::string& from, std::uint32_t requests);
  void turn_away(Fd socket);
  void close_later(Fd socket);
  void on_stuck(std::size_t stuck, const ConnectionOwner* owner);
  void act(const Actions& actions);
  void act_or_give_up(Result<Actions> actions);
  void carry_out(const StartGateway& action);
  void carry_out(const Permit& action);
  void carry_out(const PermitOnly& action);
  void carry_out(const HandOver& action);
  void carry_out(const Refuse& action);
  void carry_out(const StopIdleGateway& action);
  void carry_out(const EndGateway& action);
  void carry_out(const RenewAuditChannel& action);
  Result<void> start_gateway(const StartGateway& action);
  Result<void> renew_audit_channel(std::uint32_t uid);
  GatewayLink::Events events_of(std::uint32_t uid);

  void make_admin_sockets();
  void open_admin_socket(std::uint32_t user);
  void close_admin_socket(std::uint32_t user);
  // Return an error for the asker; empty: none.
  std::string_view disable(std::uint32_t by, const std::string& reason);
  std::string_view enable(std::uint32_t by);
  void end_leaving_soon();
  Admission admission() const;
  InstallationState state() const;
  std::chrono::milliseconds stop_patience() const;

  void start_watchdog(const ServiceOffer& offer);
  void tell_service(std::string_view with = {}) const;
  void tell_broken() const;
  void tell_stopping() const;

  // An error: the reason of the refusal; nothing has changed.
  Result<void> begin_reload(const ReloadServer::Asker& asker, ReloadRequest request);
  Result<void> start_reloader();
  void end_reloader();
  void refuse_reload(const ReloadServer::Asker& asker, const std::string& why);
  void record_reload(const ReloadServer::Asker& asker, wire::AuditOutcome outcome,
                     const std::string& text);
  void use_reloaded();
  void end_reload(const std::string& refusal);

  void go_on();
  void start_stopping();
  void finish_when_empty();
  void give_up(const Error& why);
  void wait_for_signal();
  Fd take_pending(Connection connection);
  Connection next_connection();

  /// A reload that the launcher has not answered yet.
  struct Reload {
    ReloadServer::Asker asker;
    Config config;
    Fd sealed;
    std::string declared;
    std::vector<std::string> changes;
  };

  Config& config_;
  std::string declared_;
  LauncherProcess& launcher_;
  KillSwitch kill_switch_;
  boost::asio::io_context loop_{1};
  UserTable table_;
  AuditLink audit_;
  SupervisorAuditQueue audit_queue_;
  KillSwitchListener kill_switch_listener_;
  ReloadServer reload_server_;
  ReloadFacts reload_facts_;
  Fd program_;
  std::optional<Reload> reload_;
  pid_t reloader_ = -1;                         ///< the child that a SIGHUP has started
  std::unique_ptr<ReadableFd> reloader_ended_;  ///< watches its pidfd
  bool reload_again_ = false;                   ///< after the child has ended
  PeerCredentialCache known_peers_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer sweep_timer_;
  boost::asio::steady_timer stop_timer_;

  std::map<Connection, Pending> pending_;  ///< bounded by the table's bounds
  std::map<std::uint32_t, std::unique_ptr<GatewayLink>> gateways_;
  std::unique_ptr<ConnectionCloser> closer_;  ///< closes every accepted connection
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<AdminSockets> admin_sockets_;
  LogRelay* relay_ = nullptr;
  std::unique_ptr<HttpHost> http_;        ///< none without [listen.http]
  std::unique_ptr<MetricsHost> metrics_;  ///< none without [metrics]
  std::optional<BoundSocket> socket_;
  const ServiceNotify* service_ = nullptr;
  std::optional<LauncherWatchdog> watchdog_;  ///< none without a service manager
  bool watched_ = false;                      ///< the service manager waits for signs of life
  std::uint32_t cells_ = 0;                   ///< of servers, by the launcher's last answer
  std::size_t stuck_ = 0;  ///< children that block in closing a peer's descriptors
  std::uint32_t stuck_uid_ = ConnectionOwner::unknown;  ///< the owner of the last stuck child
  std::string last_failure_;                            ///< of a gateway or the audit writer

  Connection last_connection_ = 0;
  std::uint64_t refused_ = 0;               ///< since the last sweep
  RefusedAttempts refused_attempts_;        ///< at administrators' sockets, since the last sweep
  std::uint32_t wrong_tokens_ = 0;          ///< records of them since the last sweep
  bool unidentified_said_ = false;          ///< since the last sweep
  std::set<std::uint32_t> not_taken_said_;  ///< uids, since the last sweep
  bool stopping_ = false;
  std::optional<Error> cause_;  ///< the first error that made it give up
};

}  // namespace cellblock::daemon
