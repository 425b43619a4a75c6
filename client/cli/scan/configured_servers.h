#pragma once

#include <string>
#include <vector>

#include "client/cli/scan/scan_finding.h"

namespace cellblock::cli {

/// A person of this machine whose hosts are looked at.
struct ScannedUser {
  std::string name;
  unsigned uid = 0;
  unsigned gid = 0;
  std::string home;
};

/// The servers in this text of a host's file that do not start cellblock. A text that is no
/// configuration has none. `path`: as people are told of it.
std::vector<ScanFinding> configured_in(const std::string& text, const std::string& host,
                                       const std::string& path, const std::string& user);

/// The projects that Claude Code keeps a table for in this text.
std::vector<std::string> projects_in(const std::string& text);

/// In all files of hosts that are below that user's home, in `here`, and in the projects that the
/// user's hosts name. Files that are links or another user's are left out.
std::vector<ScanFinding> configured_servers(const ScannedUser& user, const std::string& here);

/// Root: all that have a home; else the one who asks.
std::vector<ScannedUser> scanned_users();

}  // namespace cellblock::cli
