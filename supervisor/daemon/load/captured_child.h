#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "supervisor/os/sys.h"

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

}  // namespace cellblock::daemon
