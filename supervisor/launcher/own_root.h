#pragma once

#include <string>

#include "supervisor/launcher/root_plan.h"
#include "supervisor/launcher/setup_failure.h"

/// The launcher's own mount namespace: a root that holds nothing but what cells are made of.
///
///   /cell    the empty directory onto which a child moves its new root
///   /cells   one template per server (root_builder.h)
///   /proc    the host's, which the kernel wants to see before it lets a cell mount its own
///   /state   the state directory
///   /host    the host's root, while templates are built; then it is gone
namespace cellblock::launcher {

struct OwnRoot {
  Fd host;   ///< for build_template; close it and call forget_host when all are built
  Fd state;  ///< the state directory
};

/// Needs full capabilities in a user namespace of its own.
SysResult<OwnRoot> enter_own_root(const std::string& state_directory);

/// From here no path of the host can be opened any more.
SysResult<void> forget_host();

}  // namespace cellblock::launcher
