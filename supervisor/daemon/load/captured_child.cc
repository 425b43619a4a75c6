#include "supervisor/daemon/load/captured_child.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "supervisor/daemon/load/spawn.h"
#include "supervisor/os/pidfd.h"

namespace cellblock::daemon {
namespace {

constexpr rlim_t usual_files = 1024;  // programs that use select(2) bear no more

/// errno of what the child could not do before it ran.
struct Report {
  int step = 0;
  int error = 0;
};

constexpr const char* steps[] = {"setsid", "prctl",       "setgroups", "setrlimit",
                                 "dup2",   "close_range", "sigaction", "execve"};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// --- between fork and exec: system calls on what was prepared, nothing else ---------------------

struct ChildWords {
  pid_t parent = -1;
  int null = -1;
  int output = -1;
  int errors = -1;
  int report = -1;
  ChildGroups groups = ChildGroups::keep;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
};

// The parent may have ended before it could be watched.
bool die_with(pid_t parent) {
  return ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && ::getppid() == parent;
}

bool limit_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return false;
  limit.rlim_cur = std::min(limit.rlim_max, usual_files);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool place_descriptors(const ChildWords& words) {
  return ::dup2(words.null, STDIN_FILENO) >= 0 && ::dup2(words.output, STDOUT_FILENO) >= 0 &&
         ::dup2(words.errors, STDERR_FILENO) >= 0;
}

// Close-on-exec, for the report must live until then.
bool close_others() {
  return ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

int failed_step(const ChildWords& words) {
  if (::setsid() < 0) return 0;
  if (!die_with(words.parent) || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return 1;
  // Who has none needs no capability to leave them: with a reload there is none.
  const bool has_groups = ::getgroups(0, nullptr) != 0;
  if (words.groups == ChildGroups::leave && has_groups && ::setgroups(0, nullptr) < 0) return 2;
  if (!limit_files()) return 3;
  if (!place_descriptors(words)) return 4;
  if (!close_others()) return 5;
  if (!reset_signals()) return 6;
  ::execve(words.argv[0], words.argv, words.environment);
  return 7;
}

[[noreturn]] void run_child(const ChildWords& words) {
  const int step = failed_step(words);
  const Report report{step, errno};
  [[maybe_unused]] const ssize_t told = ::write(words.report, &report, sizeof report);
  ::_exit(127);
}

// --------------------------------------------------------------------------------------------------

// End of file without a report: the exec has closed the child's end.
SysResult<void> await_exec(int descriptor, pid_t child) {
  Report report;
  ssize_t count = -1;
  do {
    count = ::read(descriptor, &report, sizeof report);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof report) return {};
  ::waitpid(child, nullptr, 0);
  return std::unexpected(SysError{steps[report.step], report.error});
}

SysResult<Pair> make_capture_pipe() {
  Pair pipe = CELLBLOCK_TRY(make_pipe());
  // This end alone: the program's own writes shall wait.
  if (::fcntl(pipe.first.get(), F_SETFL, O_NONBLOCK) < 0) return sys_fail("fcntl");
  return pipe;
}

std::unexpected<SysError> give_up(pid_t child) {
  auto error = sys_fail("pidfd_open");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return error;
}

}  // namespace

SysResult<CapturedChild> start_captured(const ChildRequest& request) {
  const Fd null = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDONLY));
  Pair output = CELLBLOCK_TRY(make_capture_pipe());
  Pair errors = CELLBLOCK_TRY(make_capture_pipe());
  Pair report = CELLBLOCK_TRY(make_pipe());
  const auto argv = pointers(request.argv);
  const auto environment = pointers(request.environment);
  const ChildWords words{::getpid(),          null.get(),          output.second.get(),
                         errors.second.get(), report.second.get(), request.groups,
                         argv.data(),         environment.data()};
  CapturedChild child;
  child.pid = ::fork();
  if (child.pid < 0) return sys_fail("fork");
  if (child.pid == 0) run_child(words);
  report.second.reset();
  CELLBLOCK_CHECK(await_exec(report.first.get(), child.pid));
  child.pidfd = open_pidfd(child.pid);
  if (!child.pidfd.valid()) return give_up(child.pid);
  child.output = std::move(output.first);
  child.errors = std::move(errors.first);
  return child;
}

}  // namespace cellblock::daemon
