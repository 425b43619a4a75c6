#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "policy/config/host_facts.h"
#include "supervisor/daemon/load/cgroup_text.h"
#include "supervisor/os/sys.h"

/// What a start has to know of the files and directories that servers declare: kind, owner, what a
/// cell's id may do with them, and whether they can be mounted with another owner. Blocking; the
/// caller has one thread.
namespace cellblock::daemon {

/// An id that only cells have.
struct CellIdentity {
  RunMode mode = RunMode::system;
  LookPurpose purpose = LookPurpose::start;
  std::uint32_t id = 0;  ///< 0: there is none, cells are this very user
  Fd user_namespace;     ///< rootless: where that id can be had
};

/// `identity`: as the configuration has it; rootless: the subordinate ids are looked up.
CellIdentity cell_identity(const Identity& identity, RunMode mode, LookPurpose purpose);

/// A child looks at each path (forked_work.h). One that is not found, that no id at hand may look
/// at, or that does not answer in time has facts that say so.
/// `owners`: who may own the directories on the way (trusted_path.h); others can change the path.
ByName<SourceFacts> look_at_sources(const std::set<std::string>& paths, const CellIdentity& cell,
                                    std::span<const uid_t> owners);

}  // namespace cellblock::daemon
