#include "supervisor/process/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "policy/base/units.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/children.h"
#include "supervisor/process/spawn.h"
#include "supervisor/process/wipe.h"

namespace cellblock::daemon {
namespace {

constexpr rlim_t usual_files = 1024;  // programs that use select(2) support no more

/// The errno of the child's failed step before its exec.
struct Report {
  int step = 0;
  int error = 0;
};

constexpr const char* steps[] = {"setsid", "prctl",       "setgroups", "setrlimit",
                                 "dup2",   "close_range", "sigaction", "execve"};

std::vector<char*> captured_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// --- between fork and exec: system calls on what was prepared, nothing else ---------------------

struct CapturedChildWords {
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

bool place_captured_descriptors(const CapturedChildWords& words) {
  return ::dup2(words.null, STDIN_FILENO) >= 0 && ::dup2(words.output, STDOUT_FILENO) >= 0 &&
         ::dup2(words.errors, STDERR_FILENO) >= 0;
}

// Close-on-exec, since the report must stay open until the exec.
bool close_others() {
  return ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

int failed_step(const CapturedChildWords& words) {
  if (::setsid() < 0) return 0;
  if (!die_with(words.parent) || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return 1;
  // A process without groups needs no capability to leave them, and in a reload there is none.
  const bool has_groups = ::getgroups(0, nullptr) != 0;
  if (words.groups == ChildGroups::leave && has_groups && ::setgroups(0, nullptr) < 0) return 2;
  if (!limit_files()) return 3;
  if (!place_captured_descriptors(words)) return 4;
  if (!close_others()) return 5;
  if (!reset_signals()) return 6;
  ::execve(words.argv[0], words.argv, words.environment);
  return 7;
}

[[noreturn]] void run_captured_child(const CapturedChildWords& words) {
  const int step = failed_step(words);
  const Report report{step, errno};
  [[maybe_unused]] const ssize_t told = ::write(words.report, &report, sizeof report);
  ::_exit(127);
}

// --------------------------------------------------------------------------------------------------

// End of file without a report: the exec has closed the child's end.
SysResult<void> await_captured_exec(int descriptor, pid_t child) {
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
  // For this end only: the program's writes block.
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
  const auto argv = captured_pointers(request.argv);
  const auto environment = captured_pointers(request.environment);
  const CapturedChildWords words{::getpid(),          null.get(),          output.second.get(),
                                 errors.second.get(), report.second.get(), request.groups,
                                 argv.data(),         environment.data()};
  CapturedChild child;
  child.pid = ::fork();
  if (child.pid < 0) return sys_fail("fork");
  if (child.pid == 0) run_captured_child(words);
  report.second.reset();
  CELLBLOCK_CHECK(await_captured_exec(report.first.get(), child.pid));
  child.pidfd = open_pidfd(child.pid);
  if (!child.pidfd.valid()) return give_up(child.pid);
  child.output = std::move(output.first);
  child.errors = std::move(errors.first);
  return child;
}

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t most_errors = 4096;
constexpr milliseconds time_to_die{10'000};

/// How output beyond the bound is treated.
enum class Rest : std::uint8_t {
  left,
  discarded,  ///< read, so that the writer does not block
};

/// The bytes that were read from a pipe: at most `most`, in one allocation.
class Intake {
 public:
  Intake(Fd pipe, std::size_t most, Rest rest)
      : pipe_(std::move(pipe)), text_(most, '\0'), rest_(rest) {}
  ~Intake() { wipe(text_); }
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  int descriptor() const { return pipe_.get(); }
  bool is_full() const { return size_ == text_.size(); }
  std::string take() const { return secret_text({text_.data(), size_}); }

  /// Reads the available bytes up to the bound, and closes the pipe after its last writer.
  void read() {
    while (pipe_.valid() && !is_full()) {
      const ssize_t count = ::read(pipe_.get(), text_.data() + size_, text_.size() - size_);
      if (count > 0) {
        size_ += static_cast<std::size_t>(count);
      } else if (count == 0 || errno != EINTR) {
        return end(count);
      }
    }
    if (pipe_.valid() && rest_ == Rest::discarded) discard();
  }

 private:
  void end(ssize_t count) {
    if (count == 0 || errno != EAGAIN) pipe_.reset();
  }

  // Reads once, so that an endless writer does not keep this process here.
  void discard() {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(pipe_.get(), bytes.data(), bytes.size());
    if (count <= 0) end(count);
    ::explicit_bzero(bytes.data(), bytes.size());
  }

  Fd pipe_;
  std::string text_;
  std::size_t size_ = 0;
  Rest rest_;
};

enum class Stop : std::uint8_t { ended, too_late, too_much };

class Run {
 public:
  Run(CapturedChild child, const CaptureBounds& bounds)
      : bounds_(bounds),
        deadline_(Clock::now() + bounds.timeout),
        child_(std::move(child)),
        output_(std::move(child_.output), bounds.most_output + 1, Rest::left),
        errors_(std::move(child_.errors), most_errors, Rest::discarded) {}

  SysResult<Stop> wait() {
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
      if (left <= milliseconds{0}) return Stop::too_late;
      std::array<pollfd, 3> watched{{{output_.descriptor(), POLLIN, 0},
                                     {errors_.descriptor(), POLLIN, 0},
                                     {child_.pidfd.get(), POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), static_cast<int>(left.count())) < 0) {
        if (errno == EINTR) continue;
        return sys_fail("poll");
      }
      read();
      if (output_.is_full()) return Stop::too_much;
      if (watched[2].revents != 0) return Stop::ended;
    }
  }

  /// Kills the program's group, which exists until the program is reaped. Returns the exit status.
  int end() {
    ::kill(-child_.pid, SIGKILL);
    int status = 0;
    while (::waitpid(child_.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  /// Call once more after all ends, for bytes still in the pipes.
  void read() {
    output_.read();
    errors_.read();
  }

  Captured take(Stop stop, int status) const {
    return {output_.take(), errors_.take(), problem(stop, status)};
  }

 private:
  std::string problem(Stop stop, int status) const {
    if (stop == Stop::too_late) return "did not end within " + duration_text(bounds_.timeout);
    if (output_.is_full()) return "printed more than " + size_text(bounds_.most_output);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return explain_status(status);
  }

  const CaptureBounds& bounds_;
  Clock::time_point deadline_;
  CapturedChild child_;
  Intake output_;
  Intake errors_;
};

}  // namespace

Result<Captured> capture(const ChildRequest& request, const CaptureBounds& bounds) {
  const std::vector<pid_t> others = CELLBLOCK_TRY(own_children());
  auto child = start_captured(request);
  if (!child) return fail("cannot be started: " + child.error().text());
  Run run(std::move(*child), bounds);
  const auto stop = run.wait();
  const int status = run.end();
  CELLBLOCK_CHECK(kill_children_except(others, time_to_die));
  if (!stop) return std::unexpected(stop.error());
  run.read();
  return run.take(*stop, status);
}

}  // namespace cellblock::daemon
