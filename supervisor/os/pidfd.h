#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/os/sys.h"

namespace cellblock {

/// pidfd_open(2), whose declaration in glibc 2.36 lacks C linkage: of a process that was not waited
/// for yet. Not valid: errno says why.
inline Fd open_pidfd(pid_t process) {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

}  // namespace cellblock
