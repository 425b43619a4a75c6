#pragma once

#include <string>

#include "policy/config/config.h"

namespace cellblock {

/// As whom the host's kernel sees a server's processes: "a dedicated uid". One phrase for `--check`
/// and `--explain`.
std::string run_identity(const Server& server, RunMode mode);

}  // namespace cellblock
