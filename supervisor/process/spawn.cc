#include "supervisor/process/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigemptyset is POSIX
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace cellblock::daemon {
namespace {

constexpr int first_passed = 3;
// Above every number that a child gets, so that no dup2 overwrites the source of a later one.
constexpr int out_of_the_way = 32;

SysResult<Fd> move_out_of_the_way(int descriptor, int at_least = out_of_the_way) {
  Fd moved(::fcntl(descriptor, F_DUPFD_CLOEXEC, at_least));
  if (!moved.valid()) return sys_fail("fcntl");
  return moved;
}

std::vector<char*> pointers(const std::vector<std::string>& arguments) {
  std::vector<char*> result;
  result.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    result.push_back(const_cast<char*>(argument.c_str()));
  result.push_back(nullptr);
  return result;
}

// --- between fork and exec: system calls on what was prepared, nothing else ---------------------

struct ChildWords {
  int null = -1;
  int program = -1;
  int report = -1;
  std::span<const Fd> fds;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
};

// Close-on-exec all from the first number that is not passed: the report must live until then.
bool place_descriptors(const ChildWords& words) {
  if (::dup2(words.null, STDIN_FILENO) < 0) return false;
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return false;
  int target = first_passed;
  for (const Fd& fd : words.fds) {
    if (::dup2(fd.get(), target++) < 0) return false;
  }
  return ::syscall(SYS_close_range, target, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

[[noreturn]] void run_child(const ChildWords& words) {
  if (place_descriptors(words) && reset_signals()) {
    ::syscall(SYS_execveat, words.program, "", words.argv, words.environment, AT_EMPTY_PATH);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(words.report, &error, sizeof error);
  ::_exit(127);
}

// --------------------------------------------------------------------------------------------------

// End of file without an errno: the exec has closed the child's end.
SysResult<void> await_exec(int report, pid_t child) {
  int error = 0;
  ssize_t count = -1;
  do {
    count = ::read(report, &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof error) return {};
  ::waitpid(child, nullptr, 0);
  return std::unexpected(SysError{"execveat", error});
}

}  // namespace

bool reset_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  return ::pthread_sigmask(SIG_SETMASK, &none, nullptr) == 0;
}

SysResult<Fd> open_program(const std::string& path) {
  return open_at(AT_FDCWD, path.c_str(), O_PATH);
}

SysResult<pid_t> spawn(int program, const std::vector<std::string>& arguments,
                       std::span<const int> fds, Environment environment) {
  char* no_environment = nullptr;
  std::vector<Fd> passed;
  passed.reserve(fds.size());
  for (const int fd : fds) passed.push_back(CELLBLOCK_TRY(move_out_of_the_way(fd)));
  const Fd null = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDONLY));
  const Fd raised = CELLBLOCK_TRY(move_out_of_the_way(program));
  Pair report = CELLBLOCK_TRY(make_pipe());
  Fd told = CELLBLOCK_TRY(move_out_of_the_way(report.second.get()));
  report.second.reset();
  const auto argv = pointers(arguments);
  const ChildWords words{null.get(),  raised.get(),
                         told.get(),  passed,
                         argv.data(), environment == Environment::ours ? environ : &no_environment};
  const pid_t child = ::fork();
  if (child < 0) return sys_fail("fork");
  if (child == 0) run_child(words);
  told.reset();
  CELLBLOCK_CHECK(await_exec(report.first.get(), child));
  return child;
}

namespace {

SysResult<void> become_with(int program, char* const* arguments, std::span<const int> fds) {
  const int behind = first_passed + static_cast<int>(fds.size());
  const Fd raised = CELLBLOCK_TRY(move_out_of_the_way(program, behind));
  std::vector<Fd> passed;
  passed.reserve(fds.size());
  for (const int fd : fds) passed.push_back(CELLBLOCK_TRY(move_out_of_the_way(fd, behind)));
  int target = first_passed;
  for (const Fd& fd : passed) {
    if (::dup2(fd.get(), target++) < 0) return sys_fail("dup2");
  }
  if (::syscall(SYS_close_range, behind, ~0U, CLOSE_RANGE_CLOEXEC) < 0) {
    return sys_fail("close_range");
  }
  ::syscall(SYS_execveat, raised.get(), "", arguments, environ, AT_EMPTY_PATH);
  return sys_fail("execveat");
}

}  // namespace

SysError become(int program, const std::vector<std::string>& arguments, std::span<const int> fds) {
  return become_with(program, pointers(arguments).data(), fds).error();
}

std::string explain_status(int status) {
  if (WIFEXITED(status)) return "exited with code " + std::to_string(WEXITSTATUS(status));
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended in an unknown way";
}

}  // namespace cellblock::daemon
