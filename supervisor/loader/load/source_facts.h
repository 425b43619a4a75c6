#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "policy/config/host_facts.h"
#include "supervisor/loader/load/cgroup_text.h"
#include "supervisor/os/sys.h"

/// Looks at the files and directories that servers declare: kind, owner, the access of a cell's id,
/// and whether they can be mounted with another owner. Blocking; the caller has one thread.
namespace cellblock::daemon {

/// An id that only cells have.
struct CellIdentity {
  RunMode mode = RunMode::system;
  LookPurpose purpose = LookPurpose::start;
  std::uint32_t id = 0;  ///< 0: none, cells run as this user
  Fd user_namespace;     ///< rootless: where that id can be had
};

/// `identity`: from the configuration. Rootless, the subordinate ids are looked up.
CellIdentity cell_identity(const Identity& identity, RunMode mode, LookPurpose purpose);

/// A child looks at each path (forked_work.h). The facts say if a path is not found, is closed to
/// every available id, or does not answer in time. `owners`: uids that may own the directories on
/// the way (trusted_path.h); other owners could change the path.
ByName<SourceFacts> look_at_sources(const std::set<std::string>& paths, const CellIdentity& cell,
                                    std::span<const uid_t> owners);

}  // namespace cellblock::daemon
