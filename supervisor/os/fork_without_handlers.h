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

/// Forks a child that holds `dead`, closes the caller's copies, and lets the child exit. So an
/// exiting process drops the last copies: there close(2) does not wait for SO_LINGER, and no
/// process waits for the child if the close blocks on something else. On success `dead` and `line`
/// are empty and the caller reaps the child. On failure nothing was closed, and the caller makes
/// `line` anew if it is gone. `line` is a make_seqpacket_pair, made in advance because descriptors
/// may have run out by now. Blocks while the child closes its other descriptors. Not thread-safe.
SysResult<pid_t> close_in_child(std::vector<Fd>& dead, Pair& line);

}  // namespace cellblock
