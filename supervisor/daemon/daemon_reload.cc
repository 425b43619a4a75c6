#include <spdlog/spdlog.h>

#include "supervisor/daemon/daemon.h"
#include "supervisor/daemon/explain_reload.h"

namespace cellblock::daemon {

void Daemon::on_reload_answer(const wire::LauncherReport& report) {
  if (report.kind == wire::LauncherTells::reloaded) {
    spdlog::info("cells are started from the new configuration");
  } else {
    spdlog::error("the new configuration is not used: {}", explain_not_reloaded(report, config_));
  }
}

}  // namespace cellblock::daemon
