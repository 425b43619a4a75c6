#pragma once

#include <sys/types.h>

#include <span>

namespace cellblock {

/// fork(2), but no signal handler ever runs in the child: it would speak into the event loop's own
/// pipe. One thread only. -1 with errno.
pid_t fork_without_handlers();

/// For the child: system calls on what was prepared, nothing else. Closes every descriptor but
/// `kept`, ascending numbers. The parent still has every one of the others open, so closing them
/// here is never their end.
bool close_all_but(std::span<const int> kept);

}  // namespace cellblock
