#include "supervisor/daemon/status/reload_refusal.h"

#include <fmt/format.h>

#include <string_view>

#include "policy/failures/helper_end.h"

namespace cellblock::daemon {
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
