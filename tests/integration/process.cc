#include "tests/integration/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace cellblock::harness {
namespace {

[[noreturn]] void give_up(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Pair pipe_or_throw() {
  auto pair = make_pipe();
  if (!pair) throw std::system_error(pair.error().number, std::generic_category(), "pipe2");
  return std::move(*pair);
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  // execve's signature wants char*, and changes nothing.
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// After fork, in the child: plain system calls only, and 127 when one fails.
void check(bool good) {
  if (!good) ::_exit(127);
}

void bind_over(const std::vector<std::pair<std::string, std::string>>& overlays) {
  if (overlays.empty()) return;
  check(::unshare(CLONE_NEWNS) == 0);
  check(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
  for (const auto& [source, target] : overlays) {
    check(::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) == 0);
  }
}

void become(const User& user) {
  check(::setgroups(user.groups.size(), user.groups.data()) == 0);
  check(::setresgid(user.gid, user.gid, user.gid) == 0);
  check(::setresuid(user.uid, user.uid, user.uid) == 0);
}

[[noreturn]] void run_child(const Process::Options& options, int input, int output, int errors) {
  check(::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
        ::dup2(errors, STDERR_FILENO) >= 0);
  bind_over(options.overlays);
  if (options.user) become(*options.user);
  check(::chdir("/") == 0);
  const auto command = pointers_to(options.command);
  const auto environment = pointers_to(options.environment);
  ::execve(command[0], command.data(), environment.data());
  ::_exit(127);
}

}  // namespace

Output::Output(Fd pipe) : pipe_(std::move(pipe)), reader_([this] { read(); }) {}

// The writers are gone by then: Process kills before its outputs are destroyed.
Output::~Output() = default;

void Output::read() {
  char buffer[16 * 1024];
  while (true) {
    const ssize_t count = ::read(pipe_.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    const std::lock_guard lock(mutex_);
    if (count > 0) text_.append(buffer, static_cast<std::size_t>(count));
    ended_ = count <= 0;
    changed_.notify_all();
    if (ended_) return;
  }
}

bool Output::wait_for(std::string_view text) {
  std::unique_lock lock(mutex_);
  const auto there = [&] { return text_.find(text) != std::string::npos; };
  changed_.wait_for(lock, deadline, [&] { return ended_ || there(); });
  return there();
}

std::string Output::all() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, deadline, [&] { return ended_; });
  return text_;
}

std::string Output::so_far() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

Process::Process(const Options& options) {
  Pair input = pipe_or_throw();
  Pair output = pipe_or_throw();
  Pair errors = pipe_or_throw();
  pid_ = spawn(options, input.first.get(), output.second.get(), errors.second.get());
  pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_.valid()) give_up("pidfd_open");
  input_ = std::move(input.second);
  output_.emplace(std::move(output.first));
  errors_.emplace(std::move(errors.first));
}

Process::~Process() {
  if (status_) return;
  signal(SIGKILL);
  wait();
}

void Process::signal(int number) const {
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

void Process::write(std::string_view text) const {
  if (auto written = write_all(input_.get(), text); !written) {
    throw std::system_error(written.error().number, std::generic_category(), "write");
  }
}

std::optional<int> Process::wait() {
  if (status_ || !wait_for_end(pidfd_.get())) return status_;
  int status = 0;
  if (::waitpid(pid_, &status, 0) == pid_) status_ = status;
  return status_;
}

pid_t spawn(const Process::Options& options, int input, int output, int errors) {
  const pid_t pid = ::fork();
  if (pid < 0) give_up("fork");
  if (pid == 0) run_child(options, input, output, errors);
  return pid;
}

bool wait_for_end(int pidfd) {
  pollfd watched{.fd = pidfd, .events = POLLIN, .revents = 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(deadline).count();
  return ::poll(&watched, 1, static_cast<int>(limit)) == 1;
}

}  // namespace cellblock::harness
