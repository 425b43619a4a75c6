#include "supervisor/daemon/spawn.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigfillset is POSIX
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace cellblock::daemon {
namespace {

constexpr int first_passed = 3;
// Above every number that a child is given, so that no dup2 there destroys the source of a later
// one.
constexpr int out_of_the_way = 32;

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class Attributes {
 public:
  Attributes() { ::posix_spawnattr_init(&attributes_); }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t* get() { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

SysResult<std::vector<Fd>> move_out_of_the_way(std::span<const int> fds) {
  std::vector<Fd> moved;
  for (const int fd : fds) {
    moved.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, out_of_the_way));
    if (!moved.back().valid()) return sys_fail("fcntl");
  }
  return moved;
}

int place_descriptors(FileActions& actions, std::span<const Fd> fds) {
  int error =
      ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (error == 0) {
    error = ::posix_spawn_file_actions_adddup2(actions.get(), STDERR_FILENO, STDOUT_FILENO);
  }
  int target = first_passed;
  for (const Fd& fd : fds) {
    if (error == 0) error = ::posix_spawn_file_actions_adddup2(actions.get(), fd.get(), target++);
  }
  if (error == 0) error = ::posix_spawn_file_actions_addclosefrom_np(actions.get(), target);
  return error;
}

// Blocked and ignored signals survive an exec; the child shall start like any program.
int reset_signals(Attributes& attributes) {
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  int error =
      ::posix_spawnattr_setflags(attributes.get(), POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (error == 0) error = ::posix_spawnattr_setsigmask(attributes.get(), &none);
  if (error == 0) error = ::posix_spawnattr_setsigdefault(attributes.get(), &all);
  return error;
}

std::vector<char*> pointers(const std::vector<std::string>& arguments) {
  std::vector<char*> result;
  result.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    result.push_back(const_cast<char*>(argument.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

SysResult<pid_t> spawn(const char* path, const std::vector<std::string>& arguments,
                       std::span<const int> fds) {
  const auto passed = move_out_of_the_way(fds);
  if (!passed) return std::unexpected(passed.error());
  FileActions actions;
  Attributes attributes;
  char* no_environment = nullptr;
  pid_t child = -1;
  int error = place_descriptors(actions, *passed);
  if (error == 0) error = reset_signals(attributes);
  if (error == 0) {
    error = ::posix_spawn(&child, path, actions.get(), attributes.get(), pointers(arguments).data(),
                          &no_environment);
  }
  if (error != 0) return std::unexpected(SysError{"posix_spawn", error});
  return child;
}

std::string explain_status(int status) {
  if (WIFEXITED(status)) return "exited with code " + std::to_string(WEXITSTATUS(status));
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended in an unknown way";
}

}  // namespace cellblock::daemon
