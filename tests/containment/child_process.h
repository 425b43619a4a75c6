#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace cellblock::containment {

/// What a child process wrote before it ended, and how it ended: "exit 0", "signal 9".
struct ChildResult {
  std::string output;
  std::string end;
};

/// Forks, runs `body` with a pipe to write to (its standard output too, if it execs), and waits for
/// both end of file and the end. The child exits with what body returns. One thread only.
ChildResult run_child_process(const std::function<int(int output)>& body);

/// A process that waits in the background until the object goes.
class BackgroundProcess {
 public:
  /// `prepare` runs in the child; the constructor returns when it has returned, or exec'd.
  explicit BackgroundProcess(const std::function<void()>& prepare);
  ~BackgroundProcess();
  BackgroundProcess(const BackgroundProcess&) = delete;
  BackgroundProcess& operator=(const BackgroundProcess&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

}  // namespace cellblock::containment
