#include "tests/containment/launcher_process.h"

#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "supervisor/launcher/child/init.h"
#include "supervisor/os/sys.h"

namespace cellblock::containment {
namespace {

bool is_root() { return ::geteuid() == 0; }

bool write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

bool map_ids(pid_t launcher, const Ids& ids) {
  const std::string own = std::to_string(ids.daemon) + " " + std::to_string(ids.daemon) + " 1\n";
  const std::string first = std::to_string(ids.first_cell);
  const std::string process = "/proc/" + std::to_string(launcher);
  if (!is_root()) {
    return write_text(process + "/setgroups", "deny") && write_text(process + "/uid_map", own) &&
           write_text(process + "/gid_map", own);
  }
  const std::string map = own + first + " " + first + " " + std::to_string(ids.cells) + "\n";
  return write_text(process + "/uid_map", map) && write_text(process + "/gid_map", map);
}

bool become_daemon(const Ids& ids) {
  if (is_root() &&
      (::setgroups(0, nullptr) < 0 || ::setresgid(ids.daemon, ids.daemon, ids.daemon) < 0 ||
       ::setresuid(ids.daemon, ids.daemon, ids.daemon) < 0)) {
    return false;
  }
  // Changing ids made it undumpable, and then its map could not be written.
  return ::prctl(PR_SET_DUMPABLE, 1) == 0 && ::unshare(CLONE_NEWUSER) == 0;
}

bool settle() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGCHLD);
  sigaddset(&blocked, launcher::kill_server_signal);
  const int masked = ::sigprocmask(SIG_BLOCK, &blocked, nullptr);  // NOLINT(concurrency-mt-unsafe)
  return masked == 0 && ::prctl(PR_SET_DUMPABLE, 0) == 0 &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/// A child of the launcher-to-be that still has the tester's rights, to write the map with.
bool enter_namespace(const Ids& ids) {
  auto made = make_pipe();
  auto mapped = make_pipe();
  if (!made || !mapped) return false;
  const pid_t launcher = ::getpid();
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    made->second.reset();
    char byte = 0;
    if (::read(made->first.get(), &byte, 1) != 1 || !map_ids(launcher, ids)) ::_exit(1);
    ::_exit(::write(mapped->second.get(), "m", 1) == 1 ? 0 : 1);
  }
  mapped->second.reset();
  char byte = 0;
  const bool entered = become_daemon(ids) && ::write(made->second.get(), "u", 1) == 1 &&
                       ::read(mapped->first.get(), &byte, 1) == 1;
  made->second.reset();
  ::waitpid(supervisor, nullptr, 0);
  return entered && settle();
}

}  // namespace

// As the tester has them, also when a launcher made from the tester asks.
Ids ids_here() {
  static const Ids ids = is_root()
                             ? Ids{.daemon = 64'000, .first_cell = 400'000, .cells = 1'000}
                             : Ids{.daemon = ::geteuid(), .first_cell = ::geteuid(), .cells = 1};
  return ids;
}

std::uint32_t landlock_here() {
  constexpr unsigned ask_for_version = 1;
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_for_version);
  return abi < 0 ? 0 : static_cast<std::uint32_t>(abi);
}

ChildResult run_as_launcher(const std::function<int(int output)>& body) {
  return run_child_process([&](int output) {
    if (enter_namespace(ids_here())) return body(output);
    ::dprintf(output, "no user namespace: %s", ::strerrorname_np(errno));
    return 99;
  });
}

}  // namespace cellblock::containment
