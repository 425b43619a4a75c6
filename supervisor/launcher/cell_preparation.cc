#include "supervisor/launcher/cell_preparation.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "supervisor/launcher/landlock_rights.h"
#include "supervisor/launcher/own_root.h"
#include "supervisor/launcher/root_builder.h"

namespace cellblock::launcher {
namespace {

// Names of templates that no server can have (a server's starts with a letter).
constexpr char gateway_template[] = "@gateway";
constexpr char audit_template[] = "@audit";
constexpr char egress_template[] = "@egress";
constexpr char http_template[] = "@http";
constexpr char metrics_template[] = "@metrics";

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

SetupResult<Fd> make_template(const std::vector<RootEntry>& entries, int host,
                              const std::string& name) {
  const std::string place = "/cells/" + name;
  if (mkdir(place.c_str(), 0755) < 0) {
    return failed_at(SetupStep::prepare, SysError{"mkdir", errno});
  }
  return build_template(entries, host, place.c_str());
}

void add_root(Blueprint& blueprint, SetupResult<Fd> root) {
  if (root) {
    blueprint.root = std::move(*root);
  } else {
    blueprint.broken = root.error();
  }
}

// In a user namespace that an unprivileged user mapped, groups stay what they were.
ChildPlan::Groups groups_here() {
  const auto file = open_at(AT_FDCWD, "/proc/self/setgroups", O_RDONLY);
  const auto bytes = file ? read_all(file->get(), 64, Sealing::any) : std::unexpected(file.error());
  if (!bytes) return ChildPlan::Groups::clear;
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return text.starts_with("deny") ? ChildPlan::Groups::cannot_be_cleared : ChildPlan::Groups::clear;
}

Result<void> require_sound(const Blueprint& blueprint) {
  if (!blueprint.broken) return {};
  return fail(blueprint.name + ": " + SysError{"prepare", blueprint.broken->error}.text());
}

bool any_egress(const Config& config) {
  return std::any_of(config.servers.begin(), config.servers.end(),
                     [](const Server& server) { return server.network == NetworkMode::egress; });
}

// It resolves names as the host does: from /etc/hosts too.
std::vector<RootEntry> egress_root(const HostLayout& layout) {
  std::vector<RootEntry> entries = plan_root({.network = NetworkMode::host}, layout);
  for (RootEntry& entry : entries) {
    if (entry.path == "/etc/hosts") entry.content = layout.hosts;
  }
  return entries;
}

Result<Blueprint> prepare_egress_helper(const Config& config, const HostLayout& layout, int host,
                                        Fd program) {
  Blueprint blueprint = CELLBLOCK_TRY(egress_blueprint(std::move(program)));
  const auto entries = egress_root(layout);
  blueprint.landlock = own_landlock_ruleset(config.kernel.landlock_abi, entries);
  blueprint.landlock.network = 0;  // whom it may dial is decided name by name
  if (blueprint.landlock.files != 0) {
    blueprint.landlock.paths.push_back({"/dev/urandom", landlock::read_file});
  }
  add_root(blueprint, make_template(entries, host, egress_template));
  CELLBLOCK_CHECK(require_sound(blueprint));
  return blueprint;
}

void keep_workspaces(WorkspaceRoots& workspaces, Blueprint& blueprint, const Server& server,
                     int host) {
  const auto attached = workspaces.attach(host, *server.workspace);
  if (attached || blueprint.broken) return;
  blueprint.broken = SetupFailure{SetupStep::open_workspace, attached.error().number};
}

// One that cannot be prepared is kept with its failure: the others can be used all the same.
Result<void> prepare_servers(const Config& config, const HostLayout& layout, int host,
                             Preparation& made) {
  FilterCache filters;
  for (const Server& server : config.servers) {
    Blueprint blueprint = CELLBLOCK_TRY(blueprint_of(server, filters));
    const auto entries = plan_root(server, layout);
    blueprint.landlock = landlock_ruleset(config.kernel.landlock_abi, server, entries);
    add_root(blueprint, make_template(entries, host, server.name));
    if (server.workspace) keep_workspaces(made.workspaces, blueprint, server, host);
    made.servers.push_back(std::move(blueprint));
  }
  return {};
}

/// A program of ours that sees nothing of the host but what it is linked with.
Result<Blueprint> prepare_own(Blueprint blueprint, const Config& config, const HostLayout& layout,
                              int host, const char* name) {
  const auto entries = plan_root({}, layout);
  blueprint.landlock = own_landlock_ruleset(config.kernel.landlock_abi, entries);
  add_root(blueprint, make_template(entries, host, name));
  CELLBLOCK_CHECK(require_sound(blueprint));
  return blueprint;
}

Result<void> prepare_programs(const Config& config, const HostLayout& layout, int host,
                              OwnPrograms programs, Preparation& made) {
  Blueprint gateway = CELLBLOCK_TRY(gateway_blueprint(std::move(programs.gateway)));
  made.gateway =
      CELLBLOCK_TRY(prepare_own(std::move(gateway), config, layout, host, gateway_template));
  permit_cache(made.gateway.landlock);
  Blueprint audit = CELLBLOCK_TRY(audit_writer_blueprint(std::move(programs.audit_writer)));
  made.audit_writer =
      CELLBLOCK_TRY(prepare_own(std::move(audit), config, layout, host, audit_template));
  made.probe = std::move(programs.probe);
  if (config.http) {
    Blueprint http = CELLBLOCK_TRY(http_blueprint(std::move(programs.http)));
    made.http = CELLBLOCK_TRY(prepare_own(std::move(http), config, layout, host, http_template));
  }
  if (config.metrics) {
    Blueprint metrics = CELLBLOCK_TRY(metrics_blueprint(std::move(programs.metrics)));
    made.metrics =
        CELLBLOCK_TRY(prepare_own(std::move(metrics), config, layout, host, metrics_template));
  }
  if (!any_egress(config)) return {};
  made.egress =
      CELLBLOCK_TRY(prepare_egress_helper(config, layout, host, std::move(programs.egress)));
  return {};
}

}  // namespace

Result<Preparation> prepare_cells(const Config& config, OwnPrograms programs) {
  const Fd host_root = CELLBLOCK_TRY(open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY));
  const HostLayout layout = CELLBLOCK_TRY(read_host_layout(host_root.get()));
  Fd null = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDWR));
  OwnRoot own = CELLBLOCK_TRY(enter_own_root(config.state_directory));
  const Ranges ranges = divide(config.identity);
  StateDirectory state = CELLBLOCK_TRY(
      StateDirectory::open(std::move(own.state), ranges.servers.first, ranges.servers.count));
  FilterProgram init_filter = CELLBLOCK_TRY(compile_init_filter());
  NetworkPool networks = CELLBLOCK_TRY(NetworkPool::make());
  Preparation made(std::move(state), std::move(init_filter),
                   IdPool(ranges.own.first, ranges.own.count), std::move(networks));
  made.null = std::move(null);
  made.groups = groups_here();
  CELLBLOCK_CHECK(prepare_servers(config, layout, own.host.get(), made));
  CELLBLOCK_CHECK(prepare_programs(config, layout, own.host.get(), std::move(programs), made));
  CELLBLOCK_CHECK(forget_host());
  return made;
}

}  // namespace cellblock::launcher
