#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

/// The files of the audit log (policy/audit/log_names.h). For root to open, before it becomes the
/// daemon's user, where it starts as root.
namespace cellblock::daemon {

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

/// All of them, made where they are missing: 0600, never through a link. Made by root where root
/// starts us: then the daemon's user, whoever takes it over, can append and empty through these
/// descriptors but never open, rename or remove a file. `directory` is where they are.
Result<AuditFiles> open_audit_files(const Config& config, int directory);

}  // namespace cellblock::daemon
