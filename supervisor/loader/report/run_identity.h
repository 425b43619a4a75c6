#pragma once

#include <string>

#include "policy/config/config.h"

namespace cellblock {

/// The user under whom the host's kernel sees a server's processes: "a dedicated uid". The same
/// phrase for `--check` and `--explain`.
std::string run_identity(const Server& server, RunMode mode);

}  // namespace cellblock
