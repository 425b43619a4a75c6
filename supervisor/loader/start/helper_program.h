#pragma once

#include <string>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// Opens a helper program of cellblock for its execution. An installed cellblockd takes helpers
/// from the configured libexec directory, any other from its own directory. An error: the helper is
/// of another build than this program.
Result<Fd> open_helper(const std::string& name);

/// `directory`: of the running cellblockd; `installed`: the configured directory for cellblockd.
std::string helper_path(const std::string& directory, const std::string& installed,
                        const std::string& name);

}  // namespace cellblock::daemon
