#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "policy/config/config.h"
#include "supervisor/loader/report/explain_rights.h"

namespace cellblock {

/// The host's names for the ids in rules.
struct AccountNames {
  std::function<std::string(std::uint32_t uid)> user;
  std::function<std::string(std::uint32_t gid)> group;
};

/// All that a server can see and do, and the users who may use it, in plain words. Has the names of
/// variables and secrets, never their values.
Explanation explain_server(const DeclaredServer& declared, const Config& config,
                           const AccountNames& names);

}  // namespace cellblock
