#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <utility>

namespace cellblock::harness {

/// A process of the test's own in a control group that is there already.
class Inhabitant {
 public:
  explicit Inhabitant(const std::string& group) : pid_(::fork()) {
    if (pid_ == 0) ::alarm(120);  // whoever waits for it is not to wait for ever
    while (pid_ == 0) ::pause();
    std::ofstream(group + "/cgroup.procs") << pid_ << std::flush;
  }
  ~Inhabitant() { end(); }
  Inhabitant(const Inhabitant&) = delete;
  Inhabitant& operator=(const Inhabitant&) = delete;
  /// False when it had ended before.
  bool end() {
    if (pid_ < 0) return false;
    const bool lived = held_ || ::waitpid(pid_, nullptr, WNOHANG) == 0;
    if (lived) ::kill(pid_, SIGKILL);
    if (lived) await_end();
    pid_ = -1;
    return lived;
  }
  pid_t pid() const { return pid_; }
  /// From then on SIGKILL does not end it, as in a system call that does not return: it stays at
  /// its exit until end(). False: not to be traced.
  bool hold_at_exit() {
    held_ = ::ptrace(PTRACE_SEIZE, pid_, nullptr, PTRACE_O_TRACEEXIT) == 0;
    return held_;
  }
  /// Lets it go on to its end, for which somebody else waits.
  void release() { ::ptrace(PTRACE_CONT, std::exchange(pid_, -1), nullptr, nullptr); }
  /// Waits for its end, which is not the test's doing.
  bool is_killed() {
    int status = 0;
    const bool ended = ::waitpid(std::exchange(pid_, -1), &status, 0) > 0;
    return ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  void await_end() const {
    int status = 0;
    while (::waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status)) {
      ::ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
    }
  }

  pid_t pid_;
  bool held_ = false;
};

}  // namespace cellblock::harness
