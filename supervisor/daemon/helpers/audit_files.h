#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// A file of the audit log (policy/audit/chain.h).
struct AuditFile {
  Fd append;  ///< O_WRONLY | O_APPEND
  Fd read;
  std::int64_t since = 0;  ///< when its first line was written, in Unix time; 0: it has none
};

struct AuditFiles {
  std::vector<AuditFile> files;  ///< as many as the log may have; not empty
  std::size_t current = 0;       ///< the one with the newest lines
  Fd journal;                    ///< the system's, connected; invalid: it is not told
};

}  // namespace cellblock::daemon
