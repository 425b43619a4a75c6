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

CellBounds check_cell_bounds(const Scope& scope, const DaemonText& text, RunMode mode) {
  constexpr Range<std::int64_t> range{1, max_cells};
  CellBounds bounds;
  check_integer(scope, "max_cells", text.max_cells, range, bounds.in_all);
  bounds.of_user = std::min(bounds.of_user, share_of(bounds.in_all, mode));
  check_integer(scope, "max_cells_per_user", text.max_cells_per_user, range, bounds.of_user);
  if (bounds.of_user > bounds.in_all) {
    scope.error(text.max_cells_per_user->at, "max_cells_per_user",
                fmt::format("is more than max_cells; allowed: 1 to {}", bounds.in_all));
  }
  return bounds;
}

}  // namespace cellblock
