#pragma once

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// Whether what stands at `path` in the cell's root is still the file that `stamp` was taken of.
/// Links inside the root are followed, and nothing leads out of it. `root`: a template.
SysResult<bool> command_unchanged(int root, const char* path, const FileStamp& stamp);

}  // namespace cellblock::launcher
