#include "supervisor/process/children.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigtimedwait is POSIX
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>

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

// True: the child has ended, or there is no such child.
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

namespace {

constexpr std::size_t longest_list = 1U << 20;

std::vector<pid_t> parse(const char* text, const char* end) {
  std::vector<pid_t> children;
  while (text < end) {
    pid_t child = 0;
    const auto [next, error] = std::from_chars(text, end, child);
    if (error == std::errc{}) children.push_back(child);
    text = std::max(next, text + 1);
  }
  return children;
}

bool is_in(const std::vector<pid_t>& list, pid_t child) {
  return std::ranges::find(list, child) != list.end();
}

}  // namespace

// The supervisor has one thread, whose children are all.
Result<std::vector<pid_t>> own_children() {
  const Fd file = CELLBLOCK_TRY(open_at(AT_FDCWD, "/proc/thread-self/children", O_RDONLY));
  const auto bytes = CELLBLOCK_TRY(read_all(file.get(), longest_list, Sealing::any));
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return parse(text, text + bytes.size());
}

bool await_no_children_but(const std::vector<pid_t>& others, milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (true) {
    const auto children = own_children();
    if (!children) return await_no_children(patience);
    const auto awaited =
        std::ranges::find_if(*children, [&](pid_t child) { return !is_in(others, child); });
    if (awaited == children->end()) return true;
    const auto time = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (!await_child(*awaited, std::max(time, milliseconds{0}))) return false;
  }
}

Result<void> kill_children_except(const std::vector<pid_t>& others, milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (true) {
    std::vector<pid_t> left = CELLBLOCK_TRY(own_children());
    std::erase_if(left, [&](pid_t child) { return is_in(others, child); });
    if (left.empty()) return {};
    for (const pid_t child : left) ::kill(child, SIGKILL);
    for (const pid_t child : left) {
      const auto time = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      if (!await_child(child, std::max(time, milliseconds{0}))) {
        return fail("left processes behind that cannot be killed");
      }
    }
    if (Clock::now() >= deadline) return fail("left ever new processes behind");
  }
}

}  // namespace cellblock::daemon
