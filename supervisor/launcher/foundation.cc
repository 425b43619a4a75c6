#include "supervisor/launcher/foundation.h"

#include <fcntl.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "supervisor/launcher/own_root.h"
#include "supervisor/launcher/spawn.h"

namespace cellblock::launcher {
namespace {

struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct Ranges {
  Range servers;  ///< for good (id_table.h)
  Range own;      ///< while they live (id_pool.h): gateways, the writer, cellblock-http and
                  ///< cellblock-metrics, as many as there may be egress helpers
};

Ranges divide(const Identity& identity) {
  constexpr std::uint32_t most_own = 4'096 + 3 + 1'024;
  const Range all{identity.first_cell_id, identity.cell_ids};
  if (all.count == 1) return {all, all};
  const std::uint32_t own = std::min(most_own, all.count / 2);
  return {{all.first, all.count - own}, {all.first + all.count - own, own}};
}

// In a user namespace that an unprivileged user mapped, groups stay what they were.
ChildPlan::Groups groups_here() {
  const auto file = open_at(AT_FDCWD, "/proc/self/setgroups", O_RDONLY);
  const auto bytes = file ? read_all(file->get(), 64, Sealing::any) : std::unexpected(file.error());
  if (!bytes) return ChildPlan::Groups::clear;
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return text.starts_with("deny") ? ChildPlan::Groups::cannot_be_cleared : ChildPlan::Groups::clear;
}

}  // namespace

Result<Founded> lay_foundation(const Config& config) {
  Fd null = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDWR));
  OwnRoot own = CELLBLOCK_TRY(enter_own_root(config.state_directory));
  const Ranges ranges = divide(config.identity);
  StateDirectory state = CELLBLOCK_TRY(
      StateDirectory::open(std::move(own.state), ranges.servers.first, ranges.servers.count));
  FilterProgram init_filter = CELLBLOCK_TRY(compile_init_filter());
  NetworkPool networks = CELLBLOCK_TRY(NetworkPool::make());
  Foundation foundation(std::move(state), std::move(init_filter),
                        IdPool(ranges.own.first, ranges.own.count), std::move(networks));
  foundation.null = std::move(null);
  foundation.groups = groups_here();
  return Founded{std::move(foundation), std::move(own.host)};
}

}  // namespace cellblock::launcher
