#pragma once

#include "supervisor/os/sys.h"
#include "supervisor/seccomp/seccomp_filter.h"

namespace cellblock {

/// Puts this process, which has one thread, under the filter for good, and every process that it
/// starts from here on. Needs no_new_privs, and leaves nobody who is asked (FilterProgram). Reads
/// back that it holds; an error says which step failed, with its errno.
SysResult<void> install_filter(const FilterProgram& filter);

}  // namespace cellblock
