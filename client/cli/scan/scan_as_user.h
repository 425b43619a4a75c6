#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "client/cli/scan/configured_servers.h"
#include "client/cli/scan/scan_finding.h"
#include "policy/base/result.h"

namespace cellblock::cli {

inline constexpr std::chrono::milliseconds scan_patience{10'000};

using ScanOfUser = std::function<std::vector<ScanFinding>()>;

/// What `scan` finds, run by a child that is that user. An error: the child cannot become the user,
/// or has not finished within `patience`; it is ended then, or left where it cannot be.
Result<std::vector<ScanFinding>> found_as(const ScannedUser& user, const ScanOfUser& scan,
                                          std::chrono::milliseconds patience);

/// As configured_servers(), in a child that runs as that user: root's rights parse no user's files,
/// and files that the user may not read are not read. An error: as of found_as().
Result<std::vector<ScanFinding>> configured_as(const ScannedUser& user, const std::string& here,
                                               std::chrono::milliseconds patience = scan_patience);

}  // namespace cellblock::cli
