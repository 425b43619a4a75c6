#pragma once

#include "tests/bench/calls.h"
#include "tests/integration/daemon.h"

/// From a host's first byte to the first list of tools.
namespace cellblock::bench {

/// Through the socket: attach, initialize, tools/list.
Nanoseconds time_of_attach(const harness::Daemon& daemon, const std::string& server);

/// The same with a spare cell that has had time to load. `watcher` is a session of the same user.
Nanoseconds time_of_warm_attach(const harness::Daemon& daemon, harness::Host& watcher,
                                const std::string& server);

/// Of all servers at once, whose lists were kept before: initialize, tools/list. No cell is
/// started.
Nanoseconds time_of_kept_list(const harness::Daemon& daemon);

/// The same program started directly: fork, initialize, tools/list.
Nanoseconds time_of_direct_start(const harness::Process::Options& options);

}  // namespace cellblock::bench
