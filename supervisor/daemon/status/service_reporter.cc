#include "supervisor/daemon/status/service_reporter.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>
#include <vector>

#include "policy/config/broken_parts.h"

namespace cellblock::daemon {

ServiceReporter::ServiceReporter(const Parts& parts, std::function<ServiceFacts()> facts)
    : config_(parts.config),
      service_(parts.service),
      launcher_(parts.launcher),
      helpers_(parts.helpers),
      facts_(std::move(facts)) {}

void ServiceReporter::start_watchdog(boost::asio::io_context& loop, const ServiceOffer& offer) {
  is_watched_ = offer.watchdog.has_value();
  if (!service_.is_there()) return;
  watchdog_.emplace(loop, watchdog_interval(offer),
                    [this] { return launcher_.tell({.kind = wire::SupervisorRequestKind::ping}); });
}

bool ServiceReporter::launcher_answered(std::uint32_t cells) {
  if (!watchdog_ || watchdog_->answered() == LauncherWatchdog::Answer::unasked) return false;
  cells_ = cells;
  tell(is_watched_ ? "WATCHDOG=1\n" : "");
  return true;
}

void ServiceReporter::reloading() const { service_.send("RELOADING=1\nSTATUS=reloading"); }

void ServiceReporter::stopping(std::size_t users) {
  is_stopping_ = true;
  service_.send("STOPPING=1\nSTATUS=stopping: the sessions of " + std::to_string(users) +
                (users == 1 ? " user end" : " users end"));
}

// While it stops, the status says so until the end.
void ServiceReporter::tell(std::string_view with) const {
  if (is_stopping_) return service_.send(with);
  ServiceFacts facts = facts_();
  facts.cells = cells_;
  service_.send(std::string(with) + "STATUS=" + status_line(facts));
}

void ServiceReporter::tell_broken() const {
  const std::vector<std::string> lines = journal_lines(config_);
  for (const std::string& line : lines) spdlog::warn("{}", line);
  helpers_.set(metrics::Metric::broken, lines.size());
}

}  // namespace cellblock::daemon
