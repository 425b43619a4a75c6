#include "policy/config_check/cell_bounds_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace cellblock {
namespace {

/// What one user has of them where that is not said: a part, so that there is one for the others.
/// Rootless there are no others.
std::uint32_t share_of(std::uint32_t in_all, RunMode mode) {
  constexpr std::uint32_t shares = 4;
  return mode == RunMode::user ? in_all : (in_all + shares - 1) / shares;
}

}  // namespace

void check_cell_bounds(const Scope& scope, const Written& daemon, RunMode mode,
                       CellBounds& bounds) {
  if (!daemon.has("max_cells_per_user")) {
    bounds.of_user = std::min(bounds.of_user, share_of(bounds.in_all, mode));
  } else if (bounds.of_user > bounds.in_all) {
    scope.error(daemon.at("max_cells_per_user"), "max_cells_per_user",
                fmt::format("is more than max_cells; allowed: 1 to {}", bounds.in_all));
  }
}

}  // namespace cellblock
