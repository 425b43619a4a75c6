#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// What a predecessor left in `cells`, and whether it was one of ours that left it: what is there
/// is killed, with root's rights where those are at hand. Blocking.
namespace cellblock::daemon {

/// Why what is in `cells` below the control group is none of a cellblockd whose cells are made by
/// `owner`; none: it is, or there is nothing in it.
std::optional<std::string> foreign_cells(const std::string& group, uid_t owner);

/// Kills what is in `cells` and removes the groups below it, however they are nested. Returns a
/// warning for each group that stays since its processes did not end within `patience`: a server
/// can bring itself into a call that does not return, as of a FUSE file system, and must not keep
/// cellblockd from starting by that. Refuses what foreign_cells names.
Result<std::vector<std::string>> end_leftovers(
    const std::string& group, int cells, uid_t owner,
    std::chrono::milliseconds patience = std::chrono::seconds(5));

/// From then on a cell's group has none below it, whoever is asked to make one: also the mark by
/// which the next start knows `cells` for our own.
SysResult<void> bound_nesting(int cells);

}  // namespace cellblock::daemon
