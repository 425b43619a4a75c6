#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// The groups of this supervisor.
struct OwnGroups {
  Fd lock;                        ///< as long as it is open no other cellblockd takes the group
  Fd cells;                       ///< the directory for the cells' groups; /dev/null without groups
  std::vector<std::string> left;  ///< warnings of end_leftovers
};

/// Makes `config.cgroup.directory` what the launcher needs: the supervisor, and with it every
/// process that it starts, moves into `supervisor` below it; the cells' groups will be made in
/// `cells`, with all controllers that the configuration counts on. What a killed predecessor left
/// there is ended. Needs the rights that the group was found with, so before privileges are
/// dropped. Blocking.
Result<OwnGroups> set_up_groups(const Config& config);

}  // namespace cellblock::daemon
