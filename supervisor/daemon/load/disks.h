#pragma once

#include <string>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"

namespace cellblock::daemon {

/// Where a server's reads and writes can go: what `io_read` and `io_write` are about. Of the
/// workspaces it is where their patterns begin to be patterns; what is mounted below is not looked
/// for.
std::vector<std::string> paths_seen(const Server& server, const std::string& state_directory);

/// The whole disks behind these paths, each once, as io.max wants them: no partitions. What lies in
/// memory has none. An error names a file system whose disks cannot be told (overlay, network). A
/// path that is still to be made counts as its nearest directory above. Reads /sys and asks no
/// disk.
Result<std::vector<Disk>> disks_behind(const std::vector<std::string>& paths);

}  // namespace cellblock::daemon
