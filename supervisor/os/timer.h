#pragma once

#include <chrono>

#include "supervisor/os/sys.h"

/// timerfd_create(2): readable once its time is over, and until it is read or set anew.
namespace cellblock {

/// On CLOCK_MONOTONIC, non-blocking, not set.
SysResult<Fd> make_timer();

/// Once, in `time`; 0: not any more.
SysResult<void> set_timer(int timer, std::chrono::nanoseconds time);

/// Makes one and sets it.
SysResult<Fd> start_timer(std::chrono::nanoseconds time);

}  // namespace cellblock
