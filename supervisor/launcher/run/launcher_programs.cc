#include "supervisor/launcher/run/launcher.h"

/// cellblock's own programs besides the gateways, of which there is one each; their requests are
/// looked at in launcher.cc.
namespace cellblock::launcher {

using wire::LauncherReportKind;

void Launcher::start_audit_writer(std::vector<Fd> fds) {
  auto started =
      factory_.start_audit_writer({fds[0].get(), fds[1].get(), fds[2].get(), fds[3].get()});
  if (!started) {
    return tell_supervisor(LauncherReportKind::audit_ended, 0, started.error().facts());
  }
  const std::uint32_t id = started->id;
  const auto cell =
      cells_.add(std::move(started->cell),
                 {[this] { tell_supervisor(LauncherReportKind::audit_started, 0); },
                  [this, id](const CellFacts& facts) { audit_writer_ended(id, facts); }});
  if (!cell) return give_up("cannot watch the audit writer: " + cell.error().text());
  audit_runs_ = true;
}

void Launcher::audit_writer_ended(std::uint32_t id, const CellFacts& facts) {
  audit_runs_ = false;
  factory_.give_back(id);
  if (!shutting_down_) tell_supervisor(LauncherReportKind::audit_ended, 0, facts);
  stop_if_empty();
}

void Launcher::start_http(std::vector<Fd> fds) {
  std::vector<int> channels = {fds[0].get(), config_bytes_.get()};
  if (fds.size() > 1) channels.push_back(fds[1].get());
  auto started = factory_.start_http(channels);
  if (!started) return tell_supervisor(LauncherReportKind::http_ended, 0, started.error().facts());
  const std::uint32_t id = started->id;
  const auto cell = cells_.add(std::move(started->cell),
                               {[this] { tell_supervisor(LauncherReportKind::http_started, 0); },
                                [this, id](const CellFacts& facts) { http_ended(id, facts); }});
  if (!cell) return give_up("cannot watch cellblock-http: " + cell.error().text());
  http_runs_ = true;
  http_cell_ = *cell;
}

void Launcher::http_ended(std::uint32_t id, const CellFacts& facts) {
  http_runs_ = false;
  factory_.give_back(id);
  if (!shutting_down_) tell_supervisor(LauncherReportKind::http_ended, 0, facts);
  stop_if_empty();
}

void Launcher::start_metrics(std::vector<Fd> fds) {
  auto started = factory_.start_metrics({fds[0].get(), config_bytes_.get(), fds[1].get()});
  if (!started) {
    return tell_supervisor(LauncherReportKind::metrics_ended, 0, started.error().facts());
  }
  const std::uint32_t id = started->id;
  const auto cell = cells_.add(std::move(started->cell),
                               {[this] { tell_supervisor(LauncherReportKind::metrics_started, 0); },
                                [this, id](const CellFacts& facts) { metrics_ended(id, facts); }});
  if (!cell) return give_up("cannot watch cellblock-metrics: " + cell.error().text());
  metrics_run_ = true;
  metrics_cell_ = *cell;
}

void Launcher::metrics_ended(std::uint32_t id, const CellFacts& facts) {
  metrics_run_ = false;
  factory_.give_back(id);
  if (!shutting_down_) tell_supervisor(LauncherReportKind::metrics_ended, 0, facts);
  stop_if_empty();
}

}  // namespace cellblock::launcher
