#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/launcher/run/cell_factory.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

/// A CellFactory that starts no cell: in place of each stands a process that does nothing, so that
/// thousands of lives of a launcher fit into a second and none of them needs a right. Linked
/// instead of cell_factory.cc.
namespace cellblock::fuzz {

/// What the launcher takes for a cell.
struct StandIn {
  Fd report;  ///< the child's end
  Fd ending;  ///< the guardian's
  int pidfd = -1;
};

/// What the factory was asked for since it was made.
struct Stage {
  std::vector<StandIn> cells;
  struct Gateway {
    std::uint32_t user = 0;
    Fd channel;  ///< its end towards the launcher
  };
  std::vector<Gateway> gateways;
  unsigned failing_starts = 0;  ///< so many more fail
};
Stage& stage();

/// Four servers: plain ones, one that keeps homes and takes workspaces, one that is disabled, one
/// with egress.
Config small_config();

launcher::CellFactory stand_in_factory();

}  // namespace cellblock::fuzz
