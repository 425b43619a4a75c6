#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/daemon/helpers/supervisor_audit_queue.h"
#include "supervisor/daemon/reload/reload_child.h"
#include "supervisor/daemon/reload/reload_server.h"
#include "supervisor/daemon/sockets/peer_credentials.h"
#include "supervisor/daemon/status/service_reporter.h"
#include "supervisor/handover/launcher_process.h"
#include "supervisor/handover/reload_protocol.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::daemon {

/// Takes another configuration at run time: first the launcher, and only then the other processes.
/// One thread.
class ConfigReload {
 public:
  struct Around {
    /// The launcher has taken this configuration. `declared`: its parts for administrators;
    /// `sealed`: its bytes.
    std::function<void(Config, std::string declared, const Fd& sealed)> use;
    std::function<void(Fd)> close_later;
  };
  /// The references outlive it.
  struct Parts {
    const Config& config;  ///< the one in use
    LauncherProcess& launcher;
    SupervisorAuditQueue& audit_queue;
    ServiceReporter& service;
  };

  /// `program`: cellblockd.
  ConfigReload(boost::asio::io_context& loop, const Parts& parts, ReloadFacts facts, Fd program,
               Around around);

  /// A peer that may reload.
  void add(const Peer& peer, Fd socket);
  void on_signal();
  /// `reloaded` or `not_reloaded`. False: no reload waits for that answer.
  [[nodiscard]] bool launcher_answered(const wire::LauncherReport& report);
  /// Takes no other configuration from now on.
  void stop();

 private:
  /// A reload that the launcher has not answered yet.
  struct Reload {
    ReloadServer::Asker asker;
    Config config;
    Fd sealed;
    std::string declared;
    std::vector<std::string> changes;
  };

  Result<ReloadMessage> offer() const;
  Result<void> start_child();
  void on_child_ended();
  void on_asked(const ReloadServer::Asker& asker, ReloadRequest request);
  // An error: the reason of the refusal; nothing has changed.
  Result<void> begin(const ReloadServer::Asker& asker, ReloadRequest request);
  void end(const std::string& refusal);
  void refuse(const ReloadServer::Asker& asker, const std::string& why);
  void record(const ReloadServer::Asker& asker, wire::AuditOutcome outcome,
              const std::string& text);

  const Config& config_;
  LauncherProcess& launcher_;
  SupervisorAuditQueue& audit_queue_;
  ServiceReporter& service_;
  ReloadFacts facts_;
  Around around_;
  ReloadServer server_;
  ReloadChild child_;
  std::optional<Reload> reload_;
  bool again_ = false;  ///< after the child has ended
  bool stopping_ = false;
};

}  // namespace cellblock::daemon
