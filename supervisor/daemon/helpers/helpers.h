#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>

#include "policy/config/config.h"
#include "policy/metrics/families.h"
#include "supervisor/activation/bound_sockets.h"
#include "supervisor/daemon/helpers/audit_link.h"
#include "supervisor/daemon/helpers/http_host.h"
#include "supervisor/daemon/helpers/metrics_host.h"
#include "supervisor/daemon/helpers/supervisor_audit_queue.h"
#include "supervisor/handover/launcher_process.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::daemon {

/// The processes that work for all users: the audit writer, with [listen.http] cellblock-http, and
/// with [metrics] cellblock-metrics. One thread.
class Helpers {
 public:
  /// `config` and `launcher` outlive it.
  Helpers(boost::asio::io_context& loop, const Config& config, LauncherProcess& launcher,
          AuditFiles audit_log);

  // Each starts one and waits for the launcher's report. Blocking; call before the loop runs.
  Result<void> start_audit(std::chrono::milliseconds timeout);
  Result<void> start_http(HttpSockets sockets, HttpHost::Around around,
                          std::chrono::milliseconds timeout);
  Result<void> start_metrics(MetricsSocket socket, std::chrono::milliseconds timeout);

  // The launcher's reports inside the loop. False: there is no such helper.
  void audit_started();
  bool http_reported(const wire::LauncherReport& report);
  bool metrics_reported(const wire::LauncherReport& report);

  /// Sends each helper the changed configuration.
  void reconfigure(const Fd& sealed);

  // Do nothing without [metrics].
  void count(metrics::Metric metric) const;
  void set(metrics::Metric metric, std::uint64_t value) const;

  AuditLink& audit() { return audit_; }
  const AuditLink& audit() const { return audit_; }
  SupervisorAuditQueue& audit_queue() { return audit_queue_; }
  HttpHost* http() { return http_.get(); }                ///< null without [listen.http]
  MetricsHost* metrics_host() { return metrics_.get(); }  ///< null without [metrics]

  /// Ends the sessions over HTTP, for good.
  void close_http() { http_.reset(); }

 private:
  boost::asio::io_context& loop_;
  const Config& config_;
  LauncherProcess& launcher_;
  AuditLink audit_;
  SupervisorAuditQueue audit_queue_;
  std::unique_ptr<HttpHost> http_;
  std::unique_ptr<MetricsHost> metrics_;
};

}  // namespace cellblock::daemon
