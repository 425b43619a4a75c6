#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cellblock::cli {

/// The answer to cellblock/status of one user's gateway.
struct UserStatus {
  std::uint32_t uid = 0;
  std::string user;
  std::string status_json;
};

/// All servers of the installation over all users, in the form of a status: of each server the
/// worst state, the cells of all, the sum of what was refused and withheld, the failure that was
/// last, with its user. `installation_json`: as the daemon tells administrators. Empty: it cannot
/// be read.
std::string machine_status(std::string_view installation_json,
                           const std::vector<UserStatus>& users);

}  // namespace cellblock::cli
