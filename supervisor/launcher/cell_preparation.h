#pragma once

#include <utility>
#include <vector>

#include "policy/config.h"
#include "supervisor/launcher/id_pool.h"
#include "supervisor/launcher/network_pool.h"
#include "supervisor/launcher/spawn.h"
#include "supervisor/launcher/state_directory.h"
#include "supervisor/launcher/workspace_roots.h"

namespace cellblock::launcher {

/// cellblock's programs that live in cells, opened by the supervisor while it could reach them.
struct OwnPrograms {
  Fd gateway;
  Fd audit_writer;
  Fd egress;
  Fd probe;
  Fd http;
  Fd metrics;
};

/// What is made once, before the first cell, from what the host's file system has then.
struct Preparation {
  Preparation(StateDirectory opened, FilterProgram filter, IdPool ids, NetworkPool pool)
      : state(std::move(opened)),
        init_filter(std::move(filter)),
        own_ids(std::move(ids)),
        networks(std::move(pool)) {}

  StateDirectory state;
  FilterProgram init_filter;
  IdPool own_ids;
  NetworkPool networks;
  WorkspaceRoots workspaces;
  std::vector<Blueprint> servers;  ///< as in the configuration
  Blueprint gateway;
  Blueprint audit_writer;
  Blueprint egress;   ///< empty where no server has egress
  Blueprint http;     ///< empty without [listen.http]
  Blueprint metrics;  ///< empty without [metrics]
  ChildPlan::Groups groups = ChildPlan::Groups::clear;
  Fd probe;
  Fd null;  ///< /dev/null
};

/// Enters the launcher's own root, prepares one blueprint per server (a server whose paths cannot
/// be prepared is kept with its failure) and forgets the host's file system.
Result<Preparation> prepare_cells(const Config& config, OwnPrograms programs);

}  // namespace cellblock::launcher
