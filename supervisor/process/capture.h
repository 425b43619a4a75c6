#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// Runs a program and captures its output, bounded in time and size. Blocking.
namespace cellblock::daemon {

enum class ChildGroups {
  keep,
  leave,  ///< supplementary ones; needs CAP_SETGID
};

struct ChildRequest {
  const std::vector<std::string>& argv;  ///< [0] is the path
  const std::vector<std::string>& environment;
  ChildGroups groups = ChildGroups::keep;
};

struct CapturedChild {
  pid_t pid = -1;  ///< the caller reaps it
  Fd pidfd;        ///< readable once it has ended
  Fd output;       ///< its stdout and stderr; both non-blocking at this end
  Fd errors;
};

/// Starts a program of the host under this process's ids, with no_new_privs, in a session and
/// process group of its own, with /dev/null as stdin and no descriptor but the three, default
/// signals, and at most 1024 files. The program is killed when this process ends. Returns once it
/// runs, or with the errno of the failed step. The caller has one thread and is not root.
SysResult<CapturedChild> start_captured(const ChildRequest& request);

struct CaptureBounds {
  std::chrono::milliseconds timeout{};
  std::size_t most_output = 0;
};

struct Captured {
  std::string output;  ///< made as wipe.h wants it; the caller wipes it
  std::string errors;  ///< the beginning of stderr; likewise
  /// How the program ended: "exited with code 3", "did not end within 10s", "printed more than
  /// 64KiB". Empty: with code 0.
  std::string problem;
};

/// Runs a program to its end or to a bound, then ends all processes that it has started. Blocking.
/// Needs SIGCHLD blocked and orphans adopted (children.h). An error: the program could not be
/// started, or one of its processes cannot be ended.
Result<Captured> capture(const ChildRequest& request, const CaptureBounds& bounds);

}  // namespace cellblock::daemon
