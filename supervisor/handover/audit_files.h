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
  std::int64_t since = 0;  ///< when its first line was written, in Unix time; 0: no line
};

struct AuditFiles {
  std::vector<AuditFile> files;  ///< all files that the log may have; not empty
  std::size_t current = 0;       ///< the file with the newest lines
  Fd journal;  ///< the system's, connected; not valid: records go to the files alone
};

}  // namespace cellblock::daemon
