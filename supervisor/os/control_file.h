#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "supervisor/os/sys.h"

/// The small text files by which the kernel is told and asked (cgroups(7), proc(5)), below an open
/// directory. Blocking; they answer at once.
namespace cellblock {

/// `text` is short: the kernel takes it in the one write that it wants.
SysResult<void> write_control_file(int directory, const char* name, std::string_view text);

/// The whole text; EFBIG when it is longer than `limit` bytes.
SysResult<std::string> read_control_file(int directory, const char* name, std::size_t limit);

}  // namespace cellblock
