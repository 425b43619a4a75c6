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

/// As configured_servers(), by a child that is that user: what users wrote is not parsed with
/// root's rights, and what they may not read is not read. An error: as of found_as().
Result<std::vector<ScanFinding>> configured_as(const ScannedUser& user, const std::string& here,
                                               std::chrono::milliseconds patience = scan_patience);

}  // namespace cellblock::cli
