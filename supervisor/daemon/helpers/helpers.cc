#include "supervisor/daemon/helpers/helpers.h"

#include <spdlog/spdlog.h>

#include <functional>
#include <utility>

namespace cellblock::daemon {

Helpers::Helpers(boost::asio::io_context& loop, const Config& config, LauncherProcess& launcher,
                 AuditFiles audit_log)
    : loop_(loop),
      config_(config),
      launcher_(launcher),
      audit_(loop, config.audit, std::move(audit_log),
             std::bind_front(&LauncherProcess::tell, &launcher)),
      audit_queue_(loop, std::bind_front(&AuditLink::add_own_source, &audit_)) {}

Result<void> Helpers::start_audit(std::chrono::milliseconds timeout) {
  CELLBLOCK_CHECK(audit_.start());
  CELLBLOCK_CHECK(launcher_.await(wire::LauncherReportKind::audit_started, timeout));
  audit_.started();
  audit_queue_.renew();
  return {};
}

Result<void> Helpers::start_http(HttpSockets sockets, HttpHost::Around around,
                                 std::chrono::milliseconds timeout) {
  around.ask_launcher = std::bind_front(&LauncherProcess::tell, &launcher_);
  http_ = std::make_unique<HttpHost>(loop_, config_, std::move(sockets), std::move(around));
  CELLBLOCK_CHECK(http_->start());
  CELLBLOCK_CHECK(launcher_.await(wire::LauncherReportKind::http_started, timeout));
  http_->started();
  return {};
}

Result<void> Helpers::start_metrics(MetricsSocket socket, std::chrono::milliseconds timeout) {
  metrics_ = CELLBLOCK_TRY(MetricsHost::make(loop_, std::move(socket),
                                             std::bind_front(&LauncherProcess::tell, &launcher_)));
  if (audit_.running()) count(metrics::Metric::audit_writer_starts);
  audit_.on_oldest = [this](std::int64_t time) {
    set(metrics::Metric::audit_log_oldest, static_cast<std::uint64_t>(time));
  };
  audit_.on_oldest(audit_.oldest());
  CELLBLOCK_CHECK(metrics_->start());
  CELLBLOCK_CHECK(launcher_.await(wire::LauncherReportKind::metrics_started, timeout));
  metrics_->started();
  return {};
}

void Helpers::audit_started() {
  audit_.started();
  count(metrics::Metric::audit_writer_starts);
  audit_queue_.renew();
  spdlog::info("the audit writer is back");
}

bool Helpers::http_reported(const wire::LauncherReport& report) {
  if (!http_) return false;
  if (report.kind == wire::LauncherReportKind::http_started) {
    http_->started();
  } else {
    http_->ended(report.facts);
  }
  return true;
}

bool Helpers::metrics_reported(const wire::LauncherReport& report) {
  if (!metrics_) return false;
  if (report.kind == wire::LauncherReportKind::metrics_started) {
    metrics_->started();
  } else {
    metrics_->ended(report.facts);
  }
  return true;
}

void Helpers::reconfigure(const Fd& sealed) {
  if (http_) http_->reconfigure(sealed);
  if (const auto told = audit_.reconfigure(); !told) {
    spdlog::error("the audit writer is not told of the new [audit]: {}", told.error().text);
  }
  if (metrics_) metrics_->config_changed();
}

void Helpers::count(metrics::Metric metric) const {
  if (metrics_) metrics_->count(metric);
}

void Helpers::set(metrics::Metric metric, std::uint64_t value) const {
  if (metrics_) metrics_->set(metric, value);
}

}  // namespace cellblock::daemon
