#include <spdlog/spdlog.h>

#include <string>
#include <utility>
#include <vector>

#include "supervisor/daemon/report/broken_parts.h"
#include "supervisor/daemon/run/daemon.h"
#include "supervisor/daemon/run/service_status.h"

/// What the service manager is told.
namespace cellblock::daemon {

void Daemon::start_pulse(const ServiceOffer& offer) {
  watched_ = offer.watchdog.has_value();
  if (!service_->is_there()) return;
  watchdog_.emplace(loop_, pulse_interval(offer),
                    [this] { return launcher_.tell({.kind = wire::SupervisorRequestKind::ping}); });
}

// By way of our own event loop and the launcher's: both are alive.
void Daemon::on_launcher_well(const wire::LauncherReport& report) {
  if (!watchdog_ || watchdog_->answered() == LauncherWatchdog::Answer::unasked) {
    return give_up({"the launcher answered what nobody had asked"});
  }
  cells_ = report.cells;
  tell_service(watched_ ? "WATCHDOG=1\n" : "");
}

void Daemon::tell_service(std::string_view with) const {
  if (stopping_) return service_->send(with);
  const ServiceFacts facts{.servers = config_.servers.size(),
                           .users = gateways_.size(),
                           .cells = cells_,
                           .broken = broken_parts(config_).size(),
                           .switched_off = !config_.enabled || switch_.is_off(),
                           .audit_runs = audit_.running(),
                           .stuck_closes = stuck_,
                           .stuck_uid = stuck_uid_,
                           .last_failure = last_failure_};
  service_->send(std::string(with) + "STATUS=" + status_line(facts));
}

// At the start and with each reload: in between nothing of it changes.
void Daemon::tell_broken() const {
  const std::vector<std::string> lines = journal_lines(config_);
  for (const std::string& line : lines) spdlog::warn("{}", line);
  if (metrics_) metrics_->set(metrics::Metric::broken, lines.size());
}

void Daemon::tell_stopping() const {
  const auto users = gateways_.size();
  service_->send("STOPPING=1\nSTATUS=stopping: the sessions of " + std::to_string(users) +
                 (users == 1 ? " user end" : " users end"));
}

}  // namespace cellblock::daemon
