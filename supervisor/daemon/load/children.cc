#include "supervisor/daemon/load/children.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigtimedwait is POSIX
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

sigset_t child_signal() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  return set;
}

// A signal that came before the wait is still pending, because it is blocked: none is missed.
void wait_for_signal(Clock::duration patience) {
  const auto nanoseconds = std::chrono::ceil<std::chrono::nanoseconds>(patience).count();
  const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  const sigset_t set = child_signal();
  ::sigtimedwait(&set, nullptr, &limit);
}

// Reaps until `done` says so or the time is over.
template <class Done>
bool await(Done done, milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!done()) {
    const auto left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    wait_for_signal(left);
  }
  return true;
}

// The child's end, or there is no such child.
bool reaped(pid_t child) {
  const pid_t result = ::waitpid(child, nullptr, WNOHANG);
  return result > 0 || (result < 0 && errno == ECHILD);
}

bool all_reaped() {
  pid_t result = 0;
  do {
    result = ::waitpid(-1, nullptr, WNOHANG);
  } while (result > 0);
  return result < 0 && errno == ECHILD;
}

}  // namespace

Result<void> adopt_children() {
  const sigset_t set = child_signal();
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    return std::unexpected(SysError{"pthread_sigmask", error});
  }
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) return sys_fail("prctl");
  return {};
}

bool await_child(pid_t child, milliseconds patience) {
  return await([child] { return reaped(child); }, patience);
}

bool await_no_children(milliseconds patience) { return await(all_reaped, patience); }

}  // namespace cellblock::daemon
