#pragma once

#include <string>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// A helper program of cellblock, opened for its execution. It lies below the configured libexec
/// directory where cellblockd is where it is installed, else beside cellblockd, and nowhere else.
/// An error where it is of another build than this program.
Result<Fd> open_helper(const std::string& name);

/// `directory`: that of cellblockd, `installed` the one that was configured for it.
std::string helper_path(const std::string& directory, const std::string& installed,
                        const std::string& name);

}  // namespace cellblock::daemon
