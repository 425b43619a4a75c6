#include "policy/life/cell_bounds_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace cellblock {

CellBounds check_cell_bounds(const Scope& scope, const DaemonText& text) {
  constexpr Range<std::int64_t> range{1, max_cells};
  CellBounds bounds;
  check_integer(scope, "max_cells", text.max_cells, range, bounds.in_all);
  check_integer(scope, "max_cells_per_user", text.max_cells_per_user, range, bounds.of_user);
  if (bounds.of_user <= bounds.in_all) return bounds;
  if (text.max_cells && text.max_cells_per_user) {
    scope.error(text.max_cells_per_user->at, "max_cells_per_user",
                fmt::format("is more than max_cells; allowed: 1 to {}", bounds.in_all));
  }
  bounds.in_all = text.max_cells ? bounds.in_all : bounds.of_user;
  bounds.of_user = std::min(bounds.of_user, bounds.in_all);
  return bounds;
}

}  // namespace cellblock
