#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "supervisor/gateway/cell/cell_lifetime.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/message/traffic.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::gateway {

/// One cell as status shows it.
struct CellRow {
  std::uint64_t cell = 0;
  std::uint64_t session = 0;
  std::set<std::uint64_t> sessions;  ///< that use it, where it is shared
  CellState state = CellState::stopped;
  std::int64_t uptime_ms = 0;
  wire::CellProgram program = wire::CellProgram::server;
  bool spare = false;
  bool workspace = false;
  bool revival = false;  ///< it took a session on
  Traffic traffic;
  std::uint64_t noise_lines = 0;      ///< of the server: no JSON-RPC
  std::uint64_t malformed_lines = 0;  ///< of the host
  std::vector<Label> labels;          ///< of its session, as the host says
  wire::CellUsage usage = {};         ///< 0: not known
};

}  // namespace cellblock::gateway
