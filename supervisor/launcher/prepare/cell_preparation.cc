#include "supervisor/launcher/prepare/cell_preparation.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>

#include "policy/config/path_rules.h"
#include "supervisor/launcher/child/image_plan.h"
#include "supervisor/launcher/child/landlock_ruleset.h"
#include "supervisor/launcher/prepare/data_limits.h"
#include "supervisor/launcher/prepare/image_listing.h"
#include "supervisor/launcher/prepare/root_builder.h"

namespace cellblock::launcher {

SysResult<TreeStore> TreeStore::make(std::uint64_t number) {
  std::string path = "/trees/" + std::to_string(number);
  if (mkdir(path.c_str(), 0755) < 0 && errno != EEXIST) return sys_fail("mkdir");
  if (mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") < 0) {
    return sys_fail("mount");
  }
  return TreeStore(std::move(path));
}

TreeStore& TreeStore::operator=(TreeStore&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  return *this;
}

// Whatever is mounted below goes with it.
void TreeStore::remove() {
  if (path_.empty()) return;
  umount2(path_.c_str(), MNT_DETACH);
  path_.clear();
}

namespace {

// Names of templates that no server can have (a server's starts with a letter).
constexpr char gateway_template[] = "@gateway";
constexpr char audit_template[] = "@audit";
constexpr char egress_template[] = "@egress";
constexpr char http_template[] = "@http";
constexpr char metrics_template[] = "@metrics";

/// What all are prepared from.
struct Materials {
  const Config& config;
  const HostTree& host;
  const HostLayout& layout;
  const OwnerTrees& owners;
  std::string place;  ///< of templates
};

SetupResult<Fd> make_template(const std::vector<RootEntry>& entries, const Materials& from,
                              const std::string& name) {
  const std::string place = from.place + "/" + name;
  if (mkdir(place.c_str(), 0755) < 0) {
    return failed_at(SetupStep::prepare, SysError{"mkdir", errno});
  }
  return build_template(entries, from.host, place.c_str());
}

void add_root(CellTemplate& blueprint, SetupResult<Fd> root) {
  if (root) {
    blueprint.root = std::move(*root);
  } else {
    blueprint.broken = root.error();
  }
}

PreparedResult<CellTemplate> sound(CellTemplate blueprint) {
  if (!blueprint.broken) return blueprint;
  return std::unexpected(Unprepared(blueprint.name, *blueprint.broken));
}

// Each blueprint has its own: the program itself is needed for the next configuration.
SysResult<Fd> program_from(const Fd& opened) {
  if (!opened.valid()) return Fd();
  return duplicate(opened.get());
}

bool any_egress(const Config& config) {
  return std::ranges::any_of(config.servers, [](const Server& server) {
    return server.network == NetworkMode::egress && !server.removed;
  });
}

// It resolves names as the host does: from /etc/hosts too.
std::vector<RootEntry> egress_root(const HostLayout& layout) {
  std::vector<RootEntry> entries = plan_root({.network = NetworkMode::host}, layout);
  for (RootEntry& entry : entries) {
    if (entry.path == "/etc/hosts") entry.content = layout.hosts;
  }
  return entries;
}

PreparedResult<CellTemplate> prepare_egress_helper(const Materials& from, const Fd& program) {
  Fd own = CELLBLOCK_TRY(program_from(program));
  CellTemplate blueprint = CELLBLOCK_TRY(egress_blueprint(std::move(own)));
  const auto entries = egress_root(from.layout);
  blueprint.landlock = own_landlock_ruleset(from.config.kernel.landlock_abi, entries);
  blueprint.landlock.network = 0;  // whom it may dial is decided name by name
  if (blueprint.landlock.files != 0) {
    blueprint.landlock.paths.push_back({"/dev/urandom", landlock::read_file});
  }
  add_root(blueprint, make_template(entries, from, egress_template));
  return sound(std::move(blueprint));
}

void keep_workspaces(WorkspaceRoots& workspaces, CellTemplate& blueprint, const Server& server,
                     const HostTree& host) {
  const auto attached = workspaces.attach(host, *server.workspace);
  if (attached || blueprint.broken) return;
  blueprint.broken = SetupFailure{SetupStep::open_workspace, attached.error().number};
}

/// Of one server.
class OwnedEntries {
 public:
  OwnedEntries(const std::vector<RootEntry>& entries, const Server& server, const OwnerTrees& trees)
      : entries_(entries), server_(server), trees_(trees) {}

  /// With the paths of this user as that user's. Another owner's path is what it is without that
  /// owner: where the way to it is closed, nothing is there.
  std::vector<RootEntry> seen_by(std::optional<std::uint32_t> user) const {
    std::vector<RootEntry> entries = entries_;
    for (RootEntry& entry : entries) {
      if (entry.declared < 0) continue;
      const OwnerMount* mount = mount_for(entry, user);
      if (mount == nullptr) continue;
      const Bind& bind = server_.binds[mount->bind];
      const std::string place = mount->uid == user ? trees_.place(bind, *mount) : std::string();
      if (place.empty()) {
        entry.closed_place = trees_.closed_place();
      } else {
        entry.own_place = place + entry.content.substr(bind.source.size());
      }
    }
    return entries;
  }

 private:
  /// A directory that is held in its place (root_plan.h) belongs to the bind that it is in.
  bool is_of(const RootEntry& entry, const Bind& bind) const {
    const bool is_held =
        entry.path != server_.binds[static_cast<std::size_t>(entry.declared)].target;
    return is_held ? is_at_or_below(entry.content, bind.source) : entry.content == bind.source;
  }

  const OwnerMount* mount_for(const RootEntry& entry, std::optional<std::uint32_t> user) const {
    const OwnerMount* best = nullptr;
    for (const OwnerMount& mount : server_.owner_mounts) {
      if (!is_of(entry, server_.binds[mount.bind])) continue;
      const bool is_deeper = best == nullptr || server_.binds[mount.bind].source.size() >
                                                    server_.binds[best->bind].source.size();
      const bool is_users = best != nullptr && mount.bind == best->bind && mount.uid == user;
      if (is_deeper || is_users) best = &mount;
    }
    return best;
  }

  const std::vector<RootEntry>& entries_;
  const Server& server_;
  const OwnerTrees& trees_;
};

std::vector<std::uint32_t> owners_of(const Server& server) {
  std::vector<std::uint32_t> owners;
  for (const OwnerMount& mount : server.owner_mounts) {
    if (owners.empty() || owners.back() != mount.uid) owners.push_back(mount.uid);  // sorted
  }
  return owners;
}

OwnerTemplate owner_template(std::uint32_t uid, SetupResult<Fd> root) {
  if (!root) return {.uid = uid, .root = Fd(), .broken = root.error()};
  return {.uid = uid, .root = std::move(*root), .broken = std::nullopt};
}

void add_templates(const Server& server, const OwnedEntries& entries, const Materials& from,
                   CellTemplate& blueprint) {
  add_root(blueprint, make_template(entries.seen_by(std::nullopt), from, server.name));
  for (const std::uint32_t uid : owners_of(server)) {
    const std::string name = server.name + "@" + std::to_string(uid);
    blueprint.of_owners.push_back(
        owner_template(uid, make_template(entries.seen_by(uid), from, name)));
  }
}

SetupResult<std::vector<RootEntry>> entries_of(const Server& server, const Materials& from) {
  if (server.image.empty()) return plan_root(server, from.layout);
  const auto own = own_entries(server, from.layout);
  const auto listing = list_image(from.host.root(), server.image, merged_directories(own));
  if (!listing) return failed_at(SetupStep::prepare, listing.error(), path_of_image);
  return plan_image_root(server.image, own, *listing);
}

void prepare_roots(const Server& server, const Materials& from, WorkspaceRoots& workspaces,
                   CellTemplate& blueprint) {
  if (server.found.is_unanswered) {
    blueprint.broken = SetupFailure{SetupStep::prepare, ETIMEDOUT};
    return;
  }
  const auto entries = entries_of(server, from);
  if (!entries) {
    blueprint.broken = entries.error();
    return;
  }
  blueprint.landlock = landlock_ruleset(from.config.kernel.landlock_abi, server, *entries);
  add_templates(server, OwnedEntries(*entries, server, from.owners), from, blueprint);
  keep_modules_apart(blueprint, server, blueprint.root);
  if (server.workspace) keep_workspaces(workspaces, blueprint, server, from.host);
  if (server.found.broken.empty()) return;
  blueprint.of_owners.clear();
  // It was there again before this, but not when the configuration was checked.
  if (!blueprint.broken) blueprint.broken = SetupFailure{SetupStep::prepare, ESTALE};
}

// One that cannot be prepared is kept with its failure: the others can be used all the same.
PreparedResult<void> prepare_servers(const Materials& from, Preparation& made) {
  FilterCache filters;
  for (const Server& server : from.config.servers) {
    CellTemplate blueprint = CELLBLOCK_TRY(blueprint_of(server, filters));
    if (server.removed || server.breakage.is_broken()) {
      blueprint.broken = SetupFailure{SetupStep::prepare, ENOENT};
    } else {
      prepare_roots(server, from, made.workspaces, blueprint);
    }
    made.servers.push_back(std::move(blueprint));
  }
  return {};
}

using MakeBlueprint = std::function<Result<CellTemplate>(Fd program)>;

/// A program of ours that sees nothing of the host but what it is linked with.
PreparedResult<CellTemplate> prepare_own(const MakeBlueprint& make, const Materials& from,
                                         const Fd& program, const char* name) {
  Fd own = CELLBLOCK_TRY(program_from(program));
  CellTemplate blueprint = CELLBLOCK_TRY(make(std::move(own)));
  const auto entries = plan_root({}, from.layout);
  blueprint.landlock = own_landlock_ruleset(from.config.kernel.landlock_abi, entries);
  add_root(blueprint, make_template(entries, from, name));
  return sound(std::move(blueprint));
}

PreparedResult<void> prepare_programs(const Materials& from, const OwnPrograms& programs,
                                      Preparation& made) {
  const auto make_gateway = [&from](Fd program) {
    return gateway_blueprint(std::move(program), data_limits::gateway(from.config));
  };
  made.gateway = CELLBLOCK_TRY(prepare_own(make_gateway, from, programs.gateway, gateway_template));
  permit_cache(made.gateway.landlock);
  permit_answers(made.gateway.landlock);
  made.audit_writer = CELLBLOCK_TRY(
      prepare_own(audit_writer_blueprint, from, programs.audit_writer, audit_template));
  if (from.config.http) {
    const auto make_http = [&from](Fd program) {
      return http_blueprint(std::move(program), data_limits::http(from.config));
    };
    made.http = CELLBLOCK_TRY(prepare_own(make_http, from, programs.http, http_template));
  }
  if (from.config.metrics) {
    made.metrics =
        CELLBLOCK_TRY(prepare_own(metrics_blueprint, from, programs.metrics, metrics_template));
  }
  if (!any_egress(from.config)) return {};
  made.egress = CELLBLOCK_TRY(prepare_egress_helper(from, programs.egress));
  return {};
}

}  // namespace

Result<void> reserve_owner_ids(StateDirectory& state, const Config& config) {
  for (const Server& server : config.servers) {
    for (const OwnerMount& mount : server.owner_mounts) {
      const auto reserved = state.reserve(server.name, mount.uid, mount.cell_id);
      if (!reserved) return fail("an id of server " + server.name + ": " + reserved.error().text());
    }
  }
  return {};
}

PreparedResult<Preparation> prepare_cells(const Config& config, const Sources& sources,
                                          const OwnPrograms& programs, std::uint64_t number) {
  const HostLayout layout = CELLBLOCK_TRY(read_host_layout(sources.host.root()));
  TreeStore trees = CELLBLOCK_TRY(TreeStore::make(number));
  OwnerTrees owners(trees.path() + "/owners");
  CELLBLOCK_CHECK(owners.attach(config, sources.owner_mounts, sources.owners_before));
  const Materials from{config, sources.host, layout, owners, trees.path() + "/cells"};
  if (mkdir(from.place.c_str(), 0755) < 0) {
    return std::unexpected(Unprepared(SysError{"mkdir", errno}));
  }
  WorkspaceRoots workspaces(trees.path() + "/workspaces");
  Preparation made{.trees = std::move(trees), .workspaces = std::move(workspaces)};
  CELLBLOCK_CHECK(prepare_servers(from, made));
  CELLBLOCK_CHECK(prepare_programs(from, programs, made));
  made.owners = std::move(owners);
  return made;
}

}  // namespace cellblock::launcher
