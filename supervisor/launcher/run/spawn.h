#pragma once

#include <memory>
#include <string>
#include <vector>

#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/launcher/prepare/cell_group.h"
#include "supervisor/launcher/prepare/cell_identity.h"
#include "supervisor/launcher/prepare/cell_template.h"
#include "supervisor/launcher/prepare/spawn_environment.h"

namespace cellblock::launcher {

/// What one spawn adds to its blueprint.
struct SpawnRequest {
  HostIds host_ids;  ///< outside; 1000 inside
  ChildPlan::Groups groups = ChildPlan::Groups::clear;
  Fd network;       ///< egress_network.h; none: the blueprint says `host`
  CellGroup group;  ///< its limits are set already
  struct Passed {
    bool there = false;
    DirectoryIdentity identity;
    std::string root;  ///< workspace_roots.h
    std::string below;
    std::uint64_t attributes = 0;  ///< MOUNT_ATTR_*
  };
  Passed workspace;
  int root = -1;         ///< of the template (root_for()); -1: the blueprint's own
  Fd home;               ///< detached tree for /home/mcp, or none
  std::vector<int> fds;  ///< become 0, 1, 2 ...; stay the caller's
  /// "NAME=value", instead of the blueprint's where there are any.
  std::vector<std::string> environment;
  std::vector<CellSecret> secrets;   ///< wiped here afterwards
  int program = -1;                  ///< executed instead of the blueprint's; stays the caller's
  std::vector<std::string> command;  ///< with `program`: its argv
#ifdef CELLBLOCK_FAULT_INJECTION
  SetupStep fault_step = SetupStep::none;
  int fault_error = 0;
#endif
};

/// A cell whose set-up is under way in its own processes.
struct SpawnedCell {
  Fd pidfd;   ///< of its pid 1; SIGKILL there ends the whole cell
  Fd report;  ///< ChildReports; end of file: the server's program runs, if no failure came before
  Fd ending;  ///< one ServerEnding, or end of file without one
  std::shared_ptr<const FilterProgram> filter;  ///< of the server
  CellGroup group;
};

/// The filter of init and guardian; the same for all cells.
Result<FilterProgram> compile_init_filter();

/// The launcher's half of a spawn: everything is prepared before clone3, ids are mapped after it.
/// The caller is single-threaded, not dumpable, and blocks SIGTERM, SIGCHLD and kill_server_signal
/// (init.h). Does not wait for the set-up.
SetupResult<SpawnedCell> spawn(const CellTemplate& blueprint, const FilterProgram& init_filter,
                               SpawnRequest request);

}  // namespace cellblock::launcher
