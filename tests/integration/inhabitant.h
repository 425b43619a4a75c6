#pragma once

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
    const bool lived = ::waitpid(pid_, nullptr, WNOHANG) == 0;
    if (lived) ::kill(pid_, SIGKILL);
    if (lived) ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    return lived;
  }
  /// Waits for its end, which is not the test's doing.
  bool is_killed() {
    int status = 0;
    const bool ended = ::waitpid(std::exchange(pid_, -1), &status, 0) > 0;
    return ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  pid_t pid_;
};

}  // namespace cellblock::harness
