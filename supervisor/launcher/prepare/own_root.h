#pragma once

#include <string>

#include "supervisor/launcher/prepare/host_tree.h"

/// The launcher's own mount namespace: a root that holds nothing but what cells are made of.
///
///   /cell    the empty directory onto which a child moves its new root
///   /proc    the host's, which the kernel wants to see before it lets a cell mount its own
///   /state   the state directory
///   /trees   one cell_preparation.h for each configuration that holds, or is being prepared:
///     /N/cells       one template per server (root_builder.h)
///     /N/workspaces  workspace_roots.h
///   /host    the host's root, while the first ones are prepared; then it is gone
namespace cellblock::launcher {

struct OwnRoot {
  HostTree host;  ///< let it go, and call forget_host, when all that is to be cloned was
  Fd state;       ///< the state directory
};

/// Needs full capabilities in a user namespace of its own.
SysResult<OwnRoot> enter_own_root(const std::string& state_directory);

/// After this no path of the host can be opened.
SysResult<void> forget_host();

}  // namespace cellblock::launcher
