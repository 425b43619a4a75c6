#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

#include "supervisor/os/sys.h"

/// Children that run no signal handler, and that close descriptors in the caller's place.
namespace cellblock {

/// fork(2), but no signal handler ever runs in the child: it would speak into the event loop's own
/// pipe. One thread only. -1 with errno.
pid_t fork_without_handlers();

/// For the child: system calls on what was prepared, nothing else. Closes every descriptor but
/// `kept`, ascending numbers. The parent still has every one of the others open, so closing them
/// here is never their end.
bool close_all_but(std::span<const int> kept);

/// Forks a child that holds `dead`, closes the caller's copies, and lets the child exit: so the
/// last copies are dropped by an exiting process, in which close(2) does not wait for SO_LINGER,
/// and which nobody waits for if it waits for something else. On success `dead` and `line` are
/// empty and the caller reaps the child; on failure nothing was closed and `line` must be made anew
/// if it is gone. `line` is a make_seqpacket_pair, made in advance because descriptors may have run
/// out by now. Blocks for the moment in which the child closes what is not to be buried. One thread
/// only.
SysResult<pid_t> close_in_child(std::vector<Fd>& dead, Pair& line);

}  // namespace cellblock
