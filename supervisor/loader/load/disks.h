#pragma once

#include <string>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"

namespace cellblock::daemon {

/// The paths that a server can read and write, for `io_read` and `io_write`. A workspace's pattern
/// counts as its path up to the first wildcard; mounts below a path are not looked for.
std::vector<std::string> paths_seen(const Server& server, const std::string& state_directory);

/// The disks behind these paths, each once, as io.max wants them: whole disks, no partitions. File
/// systems in memory have none. The error names a file system whose disks are unknown (overlay,
/// network). A missing path counts as its nearest existing directory. Reads /sys and accesses no
/// disk.
Result<std::vector<Disk>> disks_behind(const std::vector<std::string>& paths);

}  // namespace cellblock::daemon
