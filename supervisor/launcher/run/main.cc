// cellblock-launcher: builds cells, reaps them, kills them. Started by cellblockd only, with the
// descriptors of wire::launcher_fd and an empty environment. It reads no text that anybody outside
// could have written: the sealed configuration, fixed-size records, and its own list of ids.

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "supervisor/ipc/sealed_config.h"
#include "supervisor/launcher/child/init.h"
#include "supervisor/launcher/run/confinement.h"
#include "supervisor/launcher/run/launcher.h"
#include "supervisor/os/memory_limit.h"

namespace cellblock::launcher {
namespace {

namespace fd = wire::launcher_fd;

Result<void> prepare_process() {
  // The supervisor's death ends the launcher, whose death ends every cell.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return fail("prctl(PR_SET_PDEATHSIG) failed");
  if (setsid() < 0) return fail("setsid failed");
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGCHLD);
  sigaddset(&blocked, kill_server_signal);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, for good
  if (sigprocmask(SIG_BLOCK, &blocked, nullptr) < 0) return fail("sigprocmask failed");
  for (const int descriptor :
       {fd::supervisor, fd::config, fd::secrets, fd::gateway, fd::audit, fd::egress, fd::probe,
        fd::cgroup, fd::http, fd::metrics, fd::log, fd::owner_mounts}) {
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0) return fail("started without its descriptors");
  }
  return {};
}

Result<void> enter_user_namespace() {
  if (unshare(CLONE_NEWUSER) < 0) return std::unexpected<Error>(SysError{"unshare", errno});
  {
    const Fd own = CELLBLOCK_TRY(open_at(AT_FDCWD, "/proc/self/ns/user", O_RDONLY));
    const int sent = own.get();
    CELLBLOCK_CHECK(send_record(
        fd::supervisor, wire::LauncherReport{.kind = wire::LauncherReportKind::user_namespace_made},
        std::span(&sent, 1)));
  }
  wire::SupervisorRequest answer;
  CELLBLOCK_CHECK(receive_record(fd::supervisor, answer));
  if (answer.kind != wire::SupervisorRequestKind::ids_mapped)
    return fail("the ids were not mapped");
  // The map is written through /proc, which needs a dumpable process; from here nobody may look in.
  if (prctl(PR_SET_DUMPABLE, 0) < 0) return fail("prctl(PR_SET_DUMPABLE) failed");
  // After unshare the working directory and the ids are still the caller's: nothing to regain
  // there.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return fail("prctl(PR_SET_NO_NEW_PRIVS) failed");
  return {};
}

Result<void> run() {
  CELLBLOCK_CHECK(prepare_process());
  const Config config = CELLBLOCK_TRY(read_sealed_config(fd::config));
  CELLBLOCK_CHECK(enter_user_namespace());
  CELLBLOCK_CHECK(confine(config));
  // From here every capability is one over the launcher's own user namespace, and set-up needs it.
  CellFactory factory = CELLBLOCK_TRY(CellFactory::prepare(
      config, Fd(fd::secrets),
      {.gateway = Fd(fd::gateway),
       .audit_writer = Fd(fd::audit),
       .egress = Fd(fd::egress),
       .probe = Fd(fd::probe),
       .http = Fd(fd::http),
       .metrics = Fd(fd::metrics),
       .log = Fd(fd::log)},
      config.cgroup.directory.empty() ? Fd() : Fd(fd::cgroup), Fd(fd::owner_mounts)));
  // From here no path of the host can be named.
  EventLoop loop = CELLBLOCK_TRY(EventLoop::make());
  Launcher launcher(loop, std::move(factory), Fd(fd::supervisor), Fd(fd::config));
  CELLBLOCK_CHECK(launcher.start());
  CELLBLOCK_CHECK(loop.run());
  if (!launcher.failure().empty()) return fail(launcher.failure());
  return {};
}

}  // namespace
}  // namespace cellblock::launcher

int main() {
  cellblock::end_when_out_of_memory("cellblock-launcher");
  const auto ran = cellblock::launcher::run();
  if (ran) return 0;
  static_cast<void>(std::fprintf(stderr, "cellblock-launcher: %s\n", ran.error().text.c_str()));
  return 1;
}
