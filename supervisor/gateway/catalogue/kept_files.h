#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "supervisor/os/sys.h"

/// Files in a directory that is this gateway's alone. Blocking; files of a few MiB.
namespace cellblock::gateway {

/// Something else in its place (a fifo, a device) is not waited for: EINVAL.
SysResult<Fd> open_kept(int directory, const std::string& name);

enum class Durability : std::uint8_t {
  none,    ///< after a loss of power it may be empty or torn
  synced,  ///< waits for the disk
};

/// Writes a temporary file and renames it, so that a reader finds the old file or the new one.
SysResult<void> replace_kept(int directory, const std::string& name, const std::string& bytes,
                             Durability durability);

/// What is not there is well.
SysResult<void> remove_kept(int directory, const std::string& name);

/// Half-written ones too; the rest of a great many is for the next time.
SysResult<std::vector<std::string>> kept_names(int directory);

}  // namespace cellblock::gateway
