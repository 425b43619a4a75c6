#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// Kills what an earlier cellblockd left in its control group `cells`, if the group is cellblock's
/// own. Uses root's rights where the process has them. Blocking.
namespace cellblock::daemon {

/// Why the processes in `cells` below the control group do not belong to a cellblockd whose
/// launcher has the uid `owner`. nullopt: they do, or there are none.
std::optional<std::string> foreign_cells(const std::string& group, uid_t owner);

/// Kills what is in `cells` and removes the groups below it, however they are nested. Returns a
/// warning for each group that stays since its processes did not end within `patience`: a server
/// can enter a call that does not return (a FUSE file system), and must not keep cellblockd from
/// starting by that. An error: foreign_cells() has a reason.
Result<std::vector<std::string>> end_leftovers(
    const std::string& group, int cells, uid_t owner,
    std::chrono::milliseconds patience = std::chrono::seconds(5));

/// Forbids groups below a cell's group. The next start recognises `cells` by this bound.
SysResult<void> bound_nesting(int cells);

}  // namespace cellblock::daemon
