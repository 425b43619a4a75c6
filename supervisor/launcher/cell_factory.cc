#include "supervisor/launcher/cell_factory.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "policy/probe_declaration.h"
#include "supervisor/launcher/command_stamp.h"
#include "supervisor/launcher/landlock_rights.h"
#include "supervisor/launcher/own_root.h"
#include "supervisor/launcher/root_builder.h"

namespace cellblock::launcher {
namespace {

// Names of templates that no server can have (a server's starts with a letter).
constexpr char gateway_template[] = "@gateway";
constexpr char audit_template[] = "@audit";
constexpr char egress_template[] = "@egress";

struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct Ranges {
  Range servers;  ///< for good (id_table.h)
  Range own;      ///< while they live (id_pool.h): gateways, the writer, as many as there may be
                  ///< egress helpers
};

Ranges divide(const Identity& identity) {
  constexpr std::uint32_t most_own = 4'096 + 1 + 1'024;
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

// A file whose digest was right is not run any more when it has become another.
SetupResult<void> check_command(const Blueprint& blueprint, const Server& server) {
  if (!server.command_stamp || blueprint.broken) return {};
  const auto unchanged =
      command_unchanged(blueprint.root.get(), server.command[0].c_str(), *server.command_stamp);
  if (unchanged && *unchanged) return {};
  return std::unexpected(SetupFailure{.step = SetupStep::prepare,
                                      .error = unchanged ? ESTALE : unchanged.error().number,
                                      .detail = ExecDetail::command_changed});
}

std::uint64_t workspace_attributes(const Server& server) {
  std::uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (server.workspace->access == Access::read) attributes |= MOUNT_ATTR_RDONLY;
  if (!server.execute_writable) attributes |= MOUNT_ATTR_NOEXEC;
  return attributes;
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

}  // namespace

Result<CellFactory> CellFactory::prepare(const Config& config, Fd secrets, OwnPrograms programs,
                                         Fd groups) {
  const Fd host_root = CELLBLOCK_TRY(open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY));
  const HostLayout layout = CELLBLOCK_TRY(read_host_layout(host_root.get()));
  Fd null = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDWR));
  OwnRoot own = CELLBLOCK_TRY(enter_own_root(config.state_directory));
  const Ranges ranges = divide(config.identity);
  StateDirectory state = CELLBLOCK_TRY(
      StateDirectory::open(std::move(own.state), ranges.servers.first, ranges.servers.count));
  FilterProgram init_filter = CELLBLOCK_TRY(compile_init_filter());
  NetworkPool networks = CELLBLOCK_TRY(NetworkPool::make());
  CellFactory factory(config, std::move(state), SecretStore(std::move(secrets)),
                      std::move(init_filter), IdPool(ranges.own.first, ranges.own.count),
                      std::move(networks));
  factory.null_ = std::move(null);
  factory.probe_ = std::move(programs.probe);
  if (groups.valid()) factory.cell_groups_ = CellGroups(std::move(groups));
  factory.groups_ = groups_here();

  FilterCache filters;
  for (const Server& server : config.servers) {
    Blueprint blueprint = CELLBLOCK_TRY(blueprint_of(server, filters));
    const auto entries = plan_root(server, layout);
    blueprint.landlock = landlock_ruleset(config.kernel.landlock_abi, server, entries);
    add_root(blueprint, make_template(entries, own.host.get(), server.name));
    if (server.workspace) factory.keep_workspaces(blueprint, server, own.host.get());
    factory.servers_.push_back(std::move(blueprint));
  }
  const auto own_entries = plan_root({}, layout);
  const LandlockRuleset own_landlock =
      own_landlock_ruleset(config.kernel.landlock_abi, own_entries);
  factory.gateway_ = CELLBLOCK_TRY(gateway_blueprint(std::move(programs.gateway)));
  factory.gateway_.landlock = own_landlock;
  add_root(factory.gateway_, make_template(own_entries, own.host.get(), gateway_template));
  CELLBLOCK_CHECK(require_sound(factory.gateway_));
  factory.audit_writer_ = CELLBLOCK_TRY(audit_writer_blueprint(std::move(programs.audit_writer)));
  factory.audit_writer_.landlock = own_landlock;
  add_root(factory.audit_writer_, make_template(own_entries, own.host.get(), audit_template));
  CELLBLOCK_CHECK(require_sound(factory.audit_writer_));
  if (any_egress(config)) {
    factory.egress_ = CELLBLOCK_TRY(
        prepare_egress_helper(config, layout, own.host.get(), std::move(programs.egress)));
  }
  CELLBLOCK_CHECK(forget_host());
  return factory;
}

void CellFactory::keep_workspaces(Blueprint& blueprint, const Server& server, int host) {
  const auto attached = workspaces_.attach(host, *server.workspace);
  if (attached || blueprint.broken) return;
  blueprint.broken = SetupFailure{SetupStep::open_workspace, attached.error().number};
}

SetupResult<HostIds> CellFactory::ids_for(const Server& server, std::uint32_t user) {
  if (server.run_as.kind != RunAsKind::own) {
    const auto ids = declared_identity(server.run_as, user, config_.clients);
    if (ids) return *ids;
    return std::unexpected(SetupFailure{.step = SetupStep::assign_id,
                                        .error = EPERM,
                                        .refusal = wire::StartRefusal::identity_not_mapped});
  }
  const auto id = state_.id_for(server.name, user);
  if (id) return HostIds{*id, *id};
  SetupFailure failure{.step = SetupStep::assign_id, .error = id.error().number};
  if (failure.error == ERANGE) failure.refusal = wire::StartRefusal::no_free_identity;
  return std::unexpected(failure);
}

SetupResult<SpawnRequest> CellFactory::request_for(std::uint32_t server_index, std::uint32_t user) {
  const Server& server = config_.servers[server_index];
  CELLBLOCK_CHECK(check_command(servers_[server_index], server));
  SpawnRequest request;
  request.host_ids = CELLBLOCK_TRY(ids_for(server, user));
  request.groups = groups_;
  return request;
}

SetupResult<SpawnRequest::Passed> CellFactory::workspace_for(const Server& server,
                                                             int directory) const {
  if (directory < 0) return SpawnRequest::Passed{};
  SetupFailure refused{.step = SetupStep::open_workspace,
                       .error = EPERM,
                       .refusal = wire::StartRefusal::workspace_refused};
  const auto hint = server.workspace ? directory_hint(directory) : std::nullopt;
  if (!hint) return std::unexpected(refused);
  const auto place = workspaces_.find(*server.workspace, *hint);
  if (!place && workspaces_.began_without(*server.workspace, *hint)) {
    refused = {.step = SetupStep::open_workspace,
               .error = ENOENT,
               .refusal = wire::StartRefusal::workspace_came_later};
  }
  if (!place) return std::unexpected(refused);
  return SpawnRequest::Passed{directory, place->root, place->below, workspace_attributes(server)};
}

SetupResult<Fd> CellFactory::network_for(const Blueprint& blueprint) {
  if (blueprint.network == NetworkMode::host) return Fd();
  auto network = networks_.take();
  if (!network) return failed_at(SetupStep::make_network, network.error());
  return std::move(*network);
}

SetupResult<CellGroup> CellFactory::group_for(const Server& server) {
  auto group = cell_groups_.make(server.name, group_settings(server, config_.cgroup));
  if (!group) return failed_at(SetupStep::make_cgroup, group.error());
  return std::move(*group);
}

SetupResult<std::optional<EgressEnds>> CellFactory::egress_for(std::uint32_t server_index,
                                                               int network) const {
  const Server& server = config_.servers[server_index];
  if (server.network != NetworkMode::egress) return std::nullopt;
  auto sockets = prepare_egress(network, server_index, server.egress);
  if (!sockets) return failed_at(SetupStep::make_network, sockets.error());
  auto events = make_seqpacket_pair();
  if (!events) return failed_at(SetupStep::prepare, events.error());
  return EgressEnds{std::move(*sockets), std::move(*events)};
}

SetupResult<Fd> CellFactory::home_for(const Server& server, std::uint32_t user,
                                      const HostIds& owner) {
  if (server.home == HomeKind::temporary) return Fd();
  const auto execution = server.execute_writable ? Execution::allowed : Execution::refused;
  auto home = state_.home_tree({server.name, user, owner}, execution);
  if (!home) return failed_at(SetupStep::open_home, home.error());
  return std::move(*home);
}

SetupResult<void> CellFactory::add_secrets(SpawnRequest& request,
                                           std::uint32_t server_index) const {
  auto secrets = secrets_.of(config_.servers[server_index], server_index);
  if (!secrets) return failed_at(SetupStep::prepare, SysError{"secrets", EINVAL});
  request.secrets = std::move(*secrets);
  return {};
}

// What cannot be told apart from outside by the cell's walls: the same shape, but no secret.
void CellFactory::make_probe(SpawnRequest& request, const Server& server) const {
  constexpr char marker[] = "cellblock-probe-marker";
  for (const SecretVariable& secret : server.secrets) {
    const bool variable = secret.delivery == SecretDelivery::environment;
    request.secrets.push_back(
        {secret.delivery, secret.name, variable ? secret.name + "=" + marker : marker});
  }
  request.program = probe_.get();
  request.command = {"cellblock-probe", "--mcp", "--declared",
                     to_text(probe_declaration(server, config_.kernel))};
}

SetupResult<StartedServer> CellFactory::start_server(std::uint32_t server_index, std::uint32_t user,
                                                     wire::CellProgram program, int workspace) {
  const Server& server = config_.servers[server_index];
  SpawnRequest request = CELLBLOCK_TRY(request_for(server_index, user));
  request.workspace = CELLBLOCK_TRY(workspace_for(server, workspace));
  request.home = CELLBLOCK_TRY(home_for(server, user, request.host_ids));
  request.group = CELLBLOCK_TRY(group_for(server));
  request.network = CELLBLOCK_TRY(network_for(servers_[server_index]));
  auto egress = CELLBLOCK_TRY(egress_for(server_index, request.network.get()));
  auto input = make_pipe();
  auto output = make_pipe();
  auto errors = make_pipe();
  for (const auto* pipe : {&input, &output, &errors}) {
    if (!*pipe) return failed_at(SetupStep::prepare, pipe->error());
  }
  if (program == wire::CellProgram::probe) {
    make_probe(request, server);
  } else {
    CELLBLOCK_CHECK(add_secrets(request, server_index));
  }
  request.fds = {input->first.get(), output->second.get(), errors->second.get()};
  const auto memfds = secret_memfds(request.secrets);
  if (!memfds) {
    wipe(request.secrets);
    return failed_at(SetupStep::prepare, memfds.error());
  }
  for (const Fd& memfd : *memfds) request.fds.push_back(memfd.get());
  auto cell = CELLBLOCK_TRY(spawn(servers_[server_index], init_filter_, std::move(request)));
  return StartedServer{
      std::move(cell),
      StdioEnds{std::move(input->second), std::move(output->first), std::move(errors->first)},
      std::move(egress)};
}

SetupResult<StartedOwn> CellFactory::start_own(const Blueprint& blueprint,
                                               const std::vector<int>& channels) {
  SpawnRequest request;
  request.network = CELLBLOCK_TRY(network_for(blueprint));
  const auto id = own_ids_.take();
  if (!id) return failed_at(SetupStep::assign_id, SysError{"take", ERANGE});
  request.host_ids = {*id, *id};
  request.groups = groups_;
  request.fds = {null_.get(), STDERR_FILENO, STDERR_FILENO};
  request.fds.insert(request.fds.end(), channels.begin(), channels.end());
  auto cell = spawn(blueprint, init_filter_, std::move(request));
  if (cell) return StartedOwn{std::move(*cell), *id};
  own_ids_.give_back(*id);
  return std::unexpected(cell.error());
}

SetupResult<StartedOwn> CellFactory::start_gateway(const std::vector<int>& channels) {
  return start_own(gateway_, channels);
}

SetupResult<StartedOwn> CellFactory::start_audit_writer(const std::vector<int>& channels) {
  return start_own(audit_writer_, channels);
}

SetupResult<StartedOwn> CellFactory::start_egress(const EgressEnds& ends, int config_bytes) {
  const auto words =
      make_sealed("cellblock-egress", std::as_bytes(std::span(&ends.sockets.start, 1)));
  if (!words) return failed_at(SetupStep::prepare, words.error());
  std::vector<int> channels = {ends.events.second.get(), config_bytes, words->get()};
  for (const Fd& socket : ends.sockets.sockets) channels.push_back(socket.get());
  return start_own(egress_, channels);
}

}  // namespace cellblock::launcher
