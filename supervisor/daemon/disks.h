#pragma once

#include <string>
#include <vector>

#include "policy/config.h"
#include "policy/result.h"

namespace cellblock::daemon {

/// The whole disks behind these paths, each once, as io.max wants them: no partitions. What lies in
/// memory has none. An error names a file system whose disks cannot be told (overlay, network). A
/// path that is still to be made counts as its nearest directory above. Reads /sys and asks no
/// disk.
Result<std::vector<Disk>> disks_behind(const std::vector<std::string>& paths);

}  // namespace cellblock::daemon
