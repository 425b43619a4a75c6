#include "supervisor/launcher/run/launcher_resources.h"

#include <fcntl.h>

#include <string_view>
#include <utility>

#include "policy/config/id_table.h"
#include "supervisor/launcher/prepare/own_root.h"
#include "supervisor/launcher/run/spawn.h"

namespace cellblock::launcher {
namespace {

/// Which of the range live no longer than their processes (id_pool.h): gateways, the writer,
/// cellblock-http and cellblock-metrics, as many as there may be egress helpers.
IdPool own_ids(const Identity& identity) {
  const std::uint32_t servers = server_ids(identity);
  if (identity.cell_ids == 1) return {identity.first_cell_id, 1};
  return {identity.first_cell_id + servers, identity.cell_ids - servers};
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

Result<Founded> open_launcher_resources(const Config& config) {
  Fd null = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDWR));
  OwnRoot own = CELLBLOCK_TRY(enter_own_root(config.state_directory));
  StateDirectory state = CELLBLOCK_TRY(StateDirectory::open(
      std::move(own.state), config.identity.first_cell_id, server_ids(config.identity)));
  FilterProgram init_filter = CELLBLOCK_TRY(compile_init_filter());
  NetworkPool networks = CELLBLOCK_TRY(NetworkPool::make());
  LauncherResources foundation(std::move(state), std::move(init_filter), own_ids(config.identity),
                               std::move(networks));
  foundation.null = std::move(null);
  foundation.groups = groups_here();
  return Founded{std::move(foundation), std::move(own.host)};
}

}  // namespace cellblock::launcher
