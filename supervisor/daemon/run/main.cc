// cellblock-supervisor: serves hosts. cellblockd executes it when everything is read, opened, bound
// and given up: this program has no parser of configurations, and no privilege from its first
// instruction on. cellblockd installs its filter of system calls before the exec, too.

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/activation/service_notify.h"
#include "supervisor/daemon/logs/log_relay.h"
#include "supervisor/daemon/run/daemon.h"
#include "supervisor/handover/inherited_state.h"
#include "supervisor/handover/launcher_process.h"
#include "supervisor/ipc/sealed_config.h"
#include "supervisor/log/own_log.h"
#include "supervisor/os/memory_limit.h"
#include "supervisor/process/confinement.h"
#include "supervisor/process/hidden_memory.h"

namespace cellblock::daemon {
namespace {

constexpr std::chrono::milliseconds end_patience{5'000};

// Runs before anything is read.
Result<void> begin() {
  // Before Linux 6.14 a program that is executed by descriptor has its number as name.
  if (::prctl(PR_SET_NAME, "cellblock-supervisor") < 0) return sys_fail("prctl");
  CELLBLOCK_CHECK(hide_memory());  // the exec has set the default again
  if (const auto proven = prove_confined(); !proven) {
    return fail("cellblock-supervisor is executed by cellblockd alone: " + proven.error().text);
  }
  return {};
}

Result<void> run() {
  CELLBLOCK_CHECK(begin());
  Inherited inherited = CELLBLOCK_TRY(inherit_state());
  cellblock::speak_to_journal("cellblockd");
  SupervisorState& state = inherited.state;
  const ServiceNotify service(state.notify_socket);
  KillSwitch kill_switch(CELLBLOCK_TRY(duplicate(state.state_directory.get())));
  ReloadFacts facts = CELLBLOCK_TRY(read_reload_facts(state.reload_facts.get()));
  std::string declared = CELLBLOCK_TRY(read_declared_parts(state.declared.get()));
  LogRelay relay(std::move(state.log));
  LauncherProcess launcher = std::move(state.launcher);

  CELLBLOCK_CHECK(launcher.tell({.kind = wire::SupervisorRequestKind::ids_mapped}));
  CELLBLOCK_CHECK(launcher.await(wire::LauncherReportKind::ready, launcher_patience));
  Result<void> served;
  std::vector<pid_t> closing;
  {
    Daemon daemon(
        {.config = inherited.config, .launcher = launcher, .relay = relay, .service = service},
        {.declared = std::move(declared),
         .audit_log = std::move(state.audit),
         .kill_switch = std::move(kill_switch),
         .reload_facts = std::move(facts),
         .program = std::move(state.cellblockd)});
    CELLBLOCK_CHECK(
        daemon.start_helpers(std::move(state.http), std::move(state.metrics), launcher_patience));
    served = daemon.serve(std::move(state.mcp), state.offer);
    closing = daemon.close_connections();
  }
  // From here no peer can connect, and the channels to all gateways are closed.

  const auto ended = launcher.end(end_patience, closing);
  // From here no process of cellblock is left, except children that block in closing a peer's
  // descriptors.
  return served ? ended : served;
}

}  // namespace
}  // namespace cellblock::daemon

int main() {
  try {
    cellblock::end_when_out_of_memory("cellblockd");
    cellblock::set_up_log("cellblockd");
    const auto result = cellblock::daemon::run();
    if (!result) spdlog::error("{}", result.error().text);
    return result ? 0 : 1;
  } catch (const std::exception& error) {
    // Exceptions of libraries are caught at the calls; only a lack of memory gets here.
    static_cast<void>(std::fputs(error.what(), stderr));
    return 1;
  }
}
