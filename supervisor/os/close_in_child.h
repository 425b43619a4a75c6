#pragma once

#include <sys/types.h>

#include <vector>

#include "supervisor/os/sys.h"

namespace cellblock {

/// Forks a child that holds `dead`, closes the caller's copies, and lets the child exit: so the
/// last copies are dropped by an exiting process, in which close(2) does not wait for SO_LINGER,
/// and which nobody waits for if it waits for something else. On success `dead` and `line` are
/// empty and the caller reaps the child; on failure nothing was closed and `line` must be made anew
/// if it is gone. `line` is a make_seqpacket_pair, made in advance because descriptors may have run
/// out by now. Blocks for the moment in which the child closes what is not to be buried. One thread
/// only.
SysResult<pid_t> close_in_child(std::vector<Fd>& dead, Pair& line);

}  // namespace cellblock
