#include "supervisor/launcher/child/init.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "supervisor/launcher/child/child_report.h"

namespace cellblock::launcher {
namespace {

// They were blocked before the clone (spawn.h): pid 1 would not even be sent an unblocked signal
// for which it has no handler, and none can be lost between two waits.
int next_signal() {
  sigset_t expected;
  sigemptyset(&expected);
  sigaddset(&expected, SIGTERM);
  sigaddset(&expected, SIGCHLD);
  sigaddset(&expected, kill_server_signal);
  return sigwaitinfo(&expected, nullptr);
}

void wipe_environment(ChildPlan& plan) {
  explicit_bzero(plan.environment_block, plan.environment_size);
}

// `kept` (or nothing, -1) becomes 0, the report socket the number after it; all others are closed.
bool keep_only(ChildPlan& plan, int kept) {
  const int report = kept < 0 ? 0 : 1;
  if (kept >= 0 && dup2(kept, 0) < 0) return false;
  if (dup3(plan.report, report, O_CLOEXEC) < 0) return false;
  plan.report = report;
  return syscall(SYS_close_range, report + 1, ~0U, 0) == 0;
}

bool load_init_filter(const ChildPlan& plan) {
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, plan.init_filter) == 0;
}

// The closing of the last report socket tells the launcher that the set-up is complete: it comes
// after every step that could still fail.
void settle(ChildPlan& plan, int kept) {
  wipe_environment(plan);
  if (injected_fault(plan, SetupStep::close_descriptors) || !keep_only(plan, kept)) {
    fail_step(plan, SetupStep::close_descriptors, errno);
  }
  if (!load_init_filter(plan)) fail_step(plan, SetupStep::load_filter, errno);
  close(plan.report);
}

ServerEnding ending_of(int status, const rusage& usage) {
  const auto microseconds = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U +
           static_cast<std::uint64_t>(time.tv_usec);
  };
  return ServerEnding{
      .wait_status = status,
      .cpu_microseconds = microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
      .max_rss_kib = static_cast<std::uint64_t>(usage.ru_maxrss)};
}

[[noreturn]] void report_ending(int pipe, int status, const rusage& usage) {
  const ServerEnding ending = ending_of(status, usage);
  _exit(write(pipe, &ending, sizeof ending) == sizeof ending ? 0 : 1);
}

// A guardian that was killed has told nothing of its server, so pid 1 tells in its own end what
// killed it.
int code_after(int guardian_status) {
  if (!WIFSIGNALED(guardian_status)) return WEXITSTATUS(guardian_status);
  return guardian_signal_base + WTERMSIG(guardian_status);
}

}  // namespace

void run_init(ChildPlan& plan, pid_t guardian) noexcept {
  settle(plan, -1);
  while (true) {
    const int signal = next_signal();
    if (signal == SIGTERM || signal == kill_server_signal) kill(guardian, signal);
    pid_t ended = 0;
    int status = 0;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended == guardian) _exit(code_after(status));
    }
  }
}

void run_guardian(ChildPlan& plan, pid_t server) noexcept {
  prctl(PR_SET_NAME, "cellblock-guard");
  settle(plan, plan.ending);
  constexpr int ending = 0;
  while (true) {
    const int signal = next_signal();
    if (signal == SIGTERM) kill(server, SIGTERM);
    if (signal == kill_server_signal) kill(server, SIGKILL);
    int status = 0;
    rusage usage{};
    if (wait4(server, &status, WNOHANG, &usage) == server) report_ending(ending, status, usage);
  }
}

}  // namespace cellblock::launcher
