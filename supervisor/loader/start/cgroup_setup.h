#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// The control groups of this daemon.
struct OwnGroups {
  Fd lock;                        ///< locks the group against other cellblockds while open
  Fd cells;                       ///< the directory for the cells' groups; /dev/null without groups
  std::vector<std::string> left;  ///< warnings of end_leftovers
};

/// Prepares `config.cgroup.directory` for the launcher: moves this process, and so all that it
/// starts, into the group `supervisor` below it, and makes the group `cells` for the cells' groups,
/// with all controllers that the configuration needs. Kills the leftovers of an earlier daemon
/// there. Needs the rights with which the group was found, so call it before privileges are
/// dropped. Blocking.
Result<OwnGroups> set_up_groups(const Config& config);

}  // namespace cellblock::daemon
