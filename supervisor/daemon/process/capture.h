#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// Runs a program and takes what it prints, bounded in time and size. Blocking.
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
  Fd output;       ///< its stdout and stderr; both non-blocking, at this end
  Fd errors;
};

/// Starts a program of the host under our own ids, which can gain no privilege by what it executes,
/// in a session and process group of its own, with /dev/null as stdin and no descriptor but the
/// three, default signals, at most 1024 files, and the end of this process as its own. Returns once
/// it runs, or with the errno of what failed. The caller has one thread and is no root.
SysResult<CapturedChild> start_captured(const ChildRequest& request);

struct CaptureBounds {
  std::chrono::milliseconds timeout{};
  std::size_t most_output = 0;
};

struct Captured {
  std::string output;  ///< made as wipe.h wants it; the caller wipes it
  std::string errors;  ///< the beginning of stderr; likewise
  /// How it ended: "exited with code 3", "did not end within 10s", "printed more than 64KiB".
  /// Empty: it exited with 0.
  std::string problem;
};

/// Runs a program to its end, or to what is too much, and ends everything that it has started.
/// Blocking. Needs SIGCHLD blocked and orphans adopted (children.h). An error: it could not be
/// started, or something of it cannot be ended.
Result<Captured> capture(const ChildRequest& request, const CaptureBounds& bounds);

}  // namespace cellblock::daemon
