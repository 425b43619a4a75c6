#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"

/// What makes a server or the installation weaker than cellblock's defaults, each under the name it
/// has in the TOML. Shown by `cellblock status` and `cellblockd --check`.
namespace cellblock {

/// `cgroup`: of the installation, which says what of `limits` holds.
std::vector<std::string> weakenings_of(const Server& server, const Cgroup& cgroup);
std::vector<std::string> weakenings_of(const Config& config);  ///< of the installation, no servers'

}  // namespace cellblock
