#pragma once

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

namespace cellblock {

/// Of the file behind a descriptor, O_PATH as well.
SysResult<FileStamp> stamp_of(const Fd& file);

}  // namespace cellblock
