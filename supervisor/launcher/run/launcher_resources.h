#pragma once

#include "policy/config/config.h"
#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/launcher/prepare/host_tree.h"
#include "supervisor/launcher/prepare/id_pool.h"
#include "supervisor/launcher/prepare/network_pool.h"
#include "supervisor/launcher/prepare/seccomp_filter.h"
#include "supervisor/launcher/prepare/state_directory.h"

namespace cellblock::launcher {

/// What the launcher has from its start to its end, whatever is configured meanwhile.
struct LauncherResources {
  LauncherResources(StateDirectory opened, FilterProgram filter, IdPool ids, NetworkPool pool)
      : state(std::move(opened)),
        init_filter(std::move(filter)),
        own_ids(std::move(ids)),
        networks(std::move(pool)) {}

  StateDirectory state;
  FilterProgram init_filter;
  IdPool own_ids;
  NetworkPool networks;
  ChildPlan::Groups groups = ChildPlan::Groups::clear;
  Fd null;  ///< /dev/null
};

struct Founded {
  LauncherResources foundation;
  HostTree host;  ///< until forget_host() (own_root.h)
};

/// Enters the launcher's own root.
Result<Founded> open_launcher_resources(const Config& config);

}  // namespace cellblock::launcher
