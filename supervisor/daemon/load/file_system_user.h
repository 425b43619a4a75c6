#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

enum class Links : std::uint8_t {
  follow,
  refuse,  ///< ELOOP, on the way too: whoever can change a directory could lead anywhere
};

/// Opens what a path leads to (O_PATH). Where a directory on the way is closed to
/// this process, it is opened as the ordinary user whom that directory belongs to (setfsuid(2)),
/// which takes CAP_SETUID and CAP_SETGID. The caller has one thread.
SysResult<Fd> open_source(const std::string& path, Links links);

}  // namespace cellblock::daemon
