#pragma once

#include <cstddef>
#include <cstdint>

#include "policy/config/config.h"
#include "supervisor/ipc/wire.h"

/// Whether there may be one more cell of a server. Pure.
namespace cellblock::launcher {

struct CellCounts {
  std::size_t in_all = 0;
  std::size_t of_user = 0;
  std::size_t of_server_and_user = 0;
};

inline wire::StartRefusal over_bound(const CellCounts& running, const CellBounds& bounds,
                                     std::uint32_t of_server_and_user) {
  if (running.of_server_and_user >= of_server_and_user) return wire::StartRefusal::too_many_cells;
  if (running.of_user >= bounds.of_user || running.in_all >= bounds.in_all) {
    return wire::StartRefusal::too_many_cells_in_all;
  }
  return wire::StartRefusal::none;
}

}  // namespace cellblock::launcher
