#pragma once

#include <cstdint>

#include "supervisor/os/sys.h"

/// How a process of ours meets a limit of its memory.
namespace cellblock {

/// Whether this build keeps to RLIMIT_DATA: what a sanitizer maps for itself has no bound.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool has_data_limit = false;
#else
inline constexpr bool has_data_limit = true;
#endif

/// RLIMIT_DATA of this process, soft: a child may be given more. Never above the hard limit. With a
/// sanitizer nothing is changed.
SysResult<void> limit_data(std::uint64_t bytes);

/// From here on a failed allocation ends the process with EXIT_FAILURE, after a line on stderr with
/// the program's name. Nothing is unwound: unwinding may allocate. `program`: static storage.
void end_when_out_of_memory(const char* program);

}  // namespace cellblock
