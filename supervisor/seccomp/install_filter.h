#pragma once

#include "supervisor/os/sys.h"
#include "supervisor/seccomp/seccomp_filter.h"

namespace cellblock {

/// Puts this process, which has one thread, under the filter for good, and every process that it
/// starts from here on. Needs no_new_privs. Opens no listener: a notified call fails with ENOSYS
/// (FilterProgram). Reads back that the filter holds; an error says which step failed, with its
/// errno.
SysResult<void> install_filter(const FilterProgram& filter);

}  // namespace cellblock
