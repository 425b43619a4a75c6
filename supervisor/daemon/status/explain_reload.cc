#include "supervisor/daemon/status/explain_reload.h"

#include <fmt/format.h>

#include <string_view>
#include <system_error>

namespace cellblock::daemon {
namespace {

std::string explain_step(SetupStep step, int error) {
  std::string text =
      fmt::format("failed at step {}: {}", name_of(step), std::generic_category().message(error));
  const std::string_view hint = hint_for(step, error);
  if (!hint.empty()) text += fmt::format(" ({})", hint);
  return text;
}

}  // namespace

std::string explain_end(const CellFacts& facts) {
  switch (facts.kind) {
    case EndKind::setup_failed:
      return explain_step(facts.step, facts.error);
    case EndKind::exited:
      return fmt::format("exited with code {}", facts.exit_code);
    case EndKind::signalled:
      return fmt::format("was killed by signal {}", facts.signal);
    case EndKind::killed_by_filter:
      return fmt::format("was killed by its filter for system call {}", facts.syscall_number);
    case EndKind::out_of_memory:
      return "was killed: out of memory";
    case EndKind::egress_ended:
      return "was killed: its egress helper ended";
    case EndKind::not_ended:
      break;
  }
  return "ended";
}

bool ended_well(const CellFacts& facts) {
  return facts.kind == EndKind::exited && facts.exit_code == 0;
}

namespace {

using wire::ReloadRefusal;

std::string path_of(const Server& server, const CellFacts& facts) {
  const auto index = static_cast<std::size_t>(facts.path_index);
  if (facts.path_index == path_of_image) return " at " + server.image;
  if (facts.path_index < 0 || index >= server.binds.size()) return {};
  return " at " + server.binds[index].source;
}

std::string explain_unprepared(const wire::LauncherReport& report, const Config& next) {
  const std::string why = explain_end(report.facts);
  if (report.server >= next.servers.size()) return "cellblock's own cells: " + why;
  const Server& server = next.servers[report.server];
  return fmt::format("server {}{}: {}", server.name, path_of(server, report.facts), why);
}

std::string only_a_restart(std::string_view what) {
  return fmt::format("{} changes only with a restart of cellblockd", what);
}

}  // namespace

std::string explain_not_reloaded(const wire::LauncherReport& report, const Config& next) {
  switch (report.refusal) {
    case ReloadRefusal::mode:
      return only_a_restart("--user");
    case ReloadRefusal::identity:
      return only_a_restart("whom cellblock and its cells run as (daemon.user, daemon.id_range)");
    case ReloadRefusal::state_directory:
      return only_a_restart("the state directory");
    case ReloadRefusal::cgroup:
      return only_a_restart("the control group");
    case ReloadRefusal::programs:
      return only_a_restart("whether there is [listen.http] or [metrics]");
    case ReloadRefusal::ids_not_mapped:
      return only_a_restart("whom servers can run as (run_as)");
    case ReloadRefusal::calls:
      return only_a_restart(
          "whether a profile allows a call that traces, locks memory or sets real-time priorities "
          "(profile.NAME.allow)");
    case ReloadRefusal::servers_moved:
      return "a server has lost its place";
    case ReloadRefusal::id_taken:
      return "an id that a declared path was to be mounted for was given to another cell "
             "meanwhile; "
             "reload once more";
    case ReloadRefusal::not_prepared:
      return explain_unprepared(report, next);
    case ReloadRefusal::unreadable:
    case ReloadRefusal::none:
      break;
  }
  return "the launcher cannot read it";
}

}  // namespace cellblock::daemon
