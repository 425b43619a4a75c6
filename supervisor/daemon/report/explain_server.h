#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "policy/config/config.h"
#include "supervisor/daemon/report/explain_rights.h"

namespace cellblock {

/// What the host calls the ids that rules name.
struct AccountNames {
  std::function<std::string(std::uint32_t uid)> user;
  std::function<std::string(std::uint32_t gid)> group;
};

/// All that a server can see and do, and who may use it, in plain words. Names of variables and
/// secrets, never what they hold.
Explanation explain_server(const DeclaredServer& declared, const Config& config,
                           const AccountNames& names);

}  // namespace cellblock
