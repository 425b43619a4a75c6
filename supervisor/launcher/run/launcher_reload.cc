#include "supervisor/launcher/run/launcher.h"

// What the supervisor changes for cells that are started from now on.
namespace cellblock::launcher {

using wire::LauncherReportKind;

// Of a gateway that is not there the end is on the way already.
void Launcher::permit(std::uint32_t user, const ServerSet& servers) {
  const auto found = gateways_.find(user);
  if (found != gateways_.end()) found->second->permitted.add(servers);
}

void Launcher::permit_only(std::uint32_t user, const ServerSet& servers) {
  const auto found = gateways_.find(user);
  if (found == gateways_.end()) return;
  found->second->withdrawn.add(found->second->permitted);
  found->second->permitted = servers;
}

// Cells, gateways and helpers that run go on; whoever is started later is given the new one.
void Launcher::reload(std::vector<Fd> fds) {
  const auto reloaded =
      factory_.reload(fds[0].get(), std::move(fds[1]), std::move(fds[2]), std::move(fds[3]));
  if (!reloaded) {
    const NotReloaded& why = reloaded.error();
    return tell_supervisor({.kind = LauncherReportKind::not_reloaded,
                            .refusal = why.refusal,
                            .server = why.server,
                            .facts = why.failure.facts()});
  }
  config_bytes_ = std::move(fds[0]);
  tell_supervisor({.kind = LauncherReportKind::reloaded});
}

}  // namespace cellblock::launcher
