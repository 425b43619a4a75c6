#pragma once

#include <cstddef>
#include <cstdint>

#include "supervisor/kernel/wire.h"

/// How many cells of servers there may be. Pure.
namespace cellblock::launcher {

/// Of all users together, so that the descriptors of the launcher and the ids of egress helpers
/// have a known end. Gateways, the audit writer and egress helpers do not count: those have bounds
/// of their own, the last one each cell.
inline constexpr std::size_t max_server_cells = 1024;

/// Of one user over all servers, so that nobody alone can use up the bound that all share.
inline constexpr std::size_t max_user_cells = 256;

struct CellCounts {
  std::size_t in_all = 0;
  std::size_t of_user = 0;
  std::size_t of_server_and_user = 0;
};

/// Whether there may be one more.
inline wire::StartRefusal over_bound(const CellCounts& running, std::uint32_t max_per_user) {
  if (running.of_server_and_user >= max_per_user) return wire::StartRefusal::too_many_cells;
  if (running.of_user >= max_user_cells || running.in_all >= max_server_cells) {
    return wire::StartRefusal::too_many_cells_in_all;
  }
  return wire::StartRefusal::none;
}

}  // namespace cellblock::launcher
