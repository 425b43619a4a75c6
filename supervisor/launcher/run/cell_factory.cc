#include "supervisor/launcher/run/cell_factory.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "policy/config/config_bytes.h"
#include "policy/config/id_table.h"
#include "policy/sandbox/probe_declaration.h"
#include "supervisor/ipc/sealed_config.h"
#include "supervisor/launcher/prepare/cell_template.h"
#include "supervisor/launcher/prepare/own_root.h"

namespace cellblock::launcher {
namespace {

/// Which of the range live no longer than their processes (cell_identity.h): gateways, the writer,
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

namespace {

// The kernel counts the pages of a user's pipes, and cells need theirs.
constexpr int pipe_bytes = 16 << 10;

}  // namespace

SysResult<Fd> LogPipes::make(const wire::LogPipe& whose) const {
  if (!channel_.valid()) return duplicate(STDERR_FILENO);
  Pair pipe = CELLBLOCK_TRY(make_pipe());
  // EPERM: over the user's quota, where a pipe is made with less.
  if (fcntl(pipe.second.get(), F_SETPIPE_SZ, pipe_bytes) < 0 && errno != EPERM) {
    return sys_fail("fcntl");
  }
  // Of the reader's description alone: a writer may wait.
  if (fcntl(pipe.first.get(), F_SETFL, O_NONBLOCK) < 0) return sys_fail("fcntl");
  const int sent = pipe.first.get();
  CELLBLOCK_CHECK(send_record(channel_.get(), whose, std::span(&sent, 1), MSG_DONTWAIT));
  return std::move(pipe.second);
}

namespace {

// A file whose digest was right is not run any more when it has become another.
SetupResult<void> check_command(int root, const Server& server) {
  if (!server.command_stamp) return {};
  const auto unchanged = command_unchanged(root, server.command[0].c_str(), *server.command_stamp);
  if (unchanged && *unchanged) return {};
  return std::unexpected(SetupFailure{.step = SetupStep::prepare,
                                      .error = unchanged ? ESTALE : unchanged.error().number,
                                      .detail = ExecDetail::command_changed});
}

// A name that somebody else could have is worse than none: without one the cell does not start.
SetupResult<std::vector<std::string>> environment_for(const CellTemplate& blueprint,
                                                      const ClientNames& client) {
  std::vector<std::string> filled;
  for (const std::string& variable : blueprint.environment) {
    if (client.user.empty() && needs_user_name(variable)) {
      return std::unexpected(SetupFailure{.step = SetupStep::prepare,
                                          .error = ESRCH,
                                          .refusal = wire::StartRefusal::client_without_name});
    }
    filled.push_back(fill_in(variable, client));
  }
  return filled;
}

std::uint64_t workspace_attributes(const Server& server) {
  std::uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (server.workspace->access == Access::read) attributes |= MOUNT_ATTR_RDONLY;
  if (!server.execute_writable) attributes |= MOUNT_ATTR_NOEXEC;
  return attributes;
}

Config egress_alone(const Server& server) {
  Config config;
  Server& only = config.servers.emplace_back();
  only.name = server.name;
  only.network = server.network;
  only.egress = server.egress;
  return config;
}

}  // namespace

Result<CellFactory> CellFactory::prepare(const Config& config, Fd secrets, OwnPrograms programs,
                                         Fd groups, Fd owner_mounts) {
  Founded founded = CELLBLOCK_TRY(open_launcher_resources(config));
  CELLBLOCK_CHECK(reserve_owner_ids(founded.foundation.state, config));
  Preparation made = CELLBLOCK_TRY(prepare_cells(
      config, {founded.host, owner_mounts.get(), OwnerTrees()}, programs, first_number));
  CELLBLOCK_CHECK(forget_host());
  CellGroups cell_groups;
  if (groups.valid()) cell_groups = CellGroups(std::move(groups));
  return CellFactory(config, std::move(programs), std::move(founded.foundation), std::move(made),
                     SecretStore(std::move(secrets)), std::move(cell_groups));
}

// A user without subordinate ids has the one gid that the kernel lets him map, which need not be
// the number of his uid.
HostIds CellFactory::ids_of(std::uint32_t id) const {
  return {id, config_.identity.cell_ids == 1 ? config_.identity.gid : id};
}

SetupResult<HostIds> CellFactory::ids_for(const Server& server, std::uint32_t user) {
  if (server.run_as.kind != RunAsKind::own) {
    const auto ids = declared_identity(server.run_as, user, config_.clients);
    if (ids) return *ids;
    return std::unexpected(SetupFailure{.step = SetupStep::assign_id,
                                        .error = EPERM,
                                        .refusal = wire::StartRefusal::identity_not_mapped});
  }
  const auto id = base_.state.id_for(server.name, user);
  if (id) return ids_of(*id);
  SetupFailure failure{.step = SetupStep::assign_id, .error = id.error().number};
  if (failure.error == ERANGE) failure.refusal = wire::StartRefusal::no_free_identity;
  return std::unexpected(failure);
}

SetupResult<SpawnRequest> CellFactory::request_for(std::uint32_t server_index,
                                                   const ClientNames& client) {
  const Server& server = config_.servers[server_index];
  const CellTemplate& blueprint = made_.servers[server_index];
  // Before anything is taken for it: an id is kept for good.
  const int root = CELLBLOCK_TRY(root_for(blueprint, client.uid));
  CELLBLOCK_CHECK(check_command(root, server));
  SpawnRequest request;
  request.root = root;
  request.environment = CELLBLOCK_TRY(environment_for(blueprint, client));
  request.host_ids = CELLBLOCK_TRY(ids_for(server, client.uid));
  request.groups = base_.groups;
  return request;
}

SetupResult<SpawnRequest::Passed> CellFactory::workspace_for(
    const Server& server, const PassedDirectory* directory) const {
  if (directory == nullptr) return SpawnRequest::Passed{};
  SetupFailure refused{.step = SetupStep::open_workspace,
                       .error = EPERM,
                       .refusal = wire::StartRefusal::workspace_refused};
  if (!server.workspace || directory->path.empty()) return std::unexpected(refused);
  const auto place = made_.workspaces.find(*server.workspace, directory->path);
  if (!place && made_.workspaces.began_without(*server.workspace, directory->path)) {
    refused = {.step = SetupStep::open_workspace,
               .error = ENOENT,
               .refusal = wire::StartRefusal::workspace_came_later};
  }
  if (!place) return std::unexpected(refused);
  return SpawnRequest::Passed{true, directory->identity, place->root, place->below,
                              workspace_attributes(server)};
}

SetupResult<CellNetwork> CellFactory::network_for(const CellTemplate& blueprint) {
  if (blueprint.network == NetworkMode::host) return CellNetwork{};
  auto network = base_.networks.take();
  if (!network) return failed_at(SetupStep::make_network, network.error());
  // A port that something else may want, and a socket that nobody reads.
  if (blueprint.network != NetworkMode::none) network->resolver.reset();
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

// A probe writes nothing into the home that the server keeps.
SetupResult<Fd> CellFactory::home_for(const Server& server, std::uint32_t user,
                                      const HostIds& owner, wire::CellProgram program) {
  if (server.home == HomeKind::temporary || program == wire::CellProgram::probe) return Fd();
  const auto execution = server.execute_writable ? Execution::allowed : Execution::refused;
  auto home = base_.state.home_tree({server.name, user, owner}, execution);
  if (!home) return failed_at(SetupStep::open_home, home.error());
  return std::move(*home);
}

SetupResult<void> CellFactory::add_secrets(SpawnRequest& request,
                                           std::uint32_t server_index) const {
  auto secrets = secrets_.of(config_.servers[server_index], server_index);
  if (!secrets) return failed_at(SetupStep::prepare, secrets.error());
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
  request.program = programs_.probe.get();
  request.command = {"cellblock-probe", "--mcp", "--declared",
                     to_text(probe_declaration(server, config_.kernel))};
}

SetupResult<StartedServer> CellFactory::start_server(std::uint32_t server_index,
                                                     const ClientNames& client,
                                                     wire::CellProgram program,
                                                     const PassedDirectory* workspace) {
  const Server& server = config_.servers[server_index];
  SpawnRequest request = CELLBLOCK_TRY(request_for(server_index, client));
  request.workspace = CELLBLOCK_TRY(workspace_for(server, workspace));
  request.home = CELLBLOCK_TRY(home_for(server, client.uid, request.host_ids, program));
  request.group = CELLBLOCK_TRY(group_for(server));
  CellNetwork network = CELLBLOCK_TRY(network_for(made_.servers[server_index]));
  request.network = std::move(network.network);
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
  auto cell =
      CELLBLOCK_TRY(spawn(made_.servers[server_index], base_.init_filter, std::move(request)));
  return StartedServer{
      std::move(cell),
      StdioEnds{std::move(input->second), std::move(output->first), std::move(errors->first)},
      std::move(egress), std::move(network.resolver)};
}

SetupResult<Fd> CellFactory::cache_for(std::optional<std::uint32_t> user,
                                       const HostIds& owner) const {
  if (!user) return Fd();
  auto cache = base_.state.cache_tree(*user, owner);
  if (!cache) return failed_at(SetupStep::open_home, cache.error());
  return std::move(*cache);
}

SetupResult<SpawnedCell> CellFactory::spawn_own(const OwnProcess& process,
                                                const std::vector<int>& channels,
                                                std::uint32_t id) {
  SpawnRequest request;
  request.host_ids = ids_of(id);
  request.home = CELLBLOCK_TRY(cache_for(process.user, request.host_ids));
  request.network = std::move(CELLBLOCK_TRY(network_for(process.blueprint)).network);
  request.groups = base_.groups;
  const auto log = log_.make({.program = process.program, .uid = process.user.value_or(0)});
  if (!log) return failed_at(SetupStep::prepare, log.error());
  request.fds = {base_.null.get(), log->get(), log->get()};
  request.fds.insert(request.fds.end(), channels.begin(), channels.end());
  return spawn(process.blueprint, base_.init_filter, std::move(request));
}

SetupResult<StartedOwn> CellFactory::start_own(const OwnProcess& process,
                                               const std::vector<int>& channels) {
  const auto id = base_.own_ids.take();
  if (!id) return failed_at(SetupStep::assign_id, SysError{"take", EUSERS});
  auto cell = spawn_own(process, channels, *id);
  if (cell) return StartedOwn{std::move(*cell), *id};
  base_.own_ids.give_back(*id);
  return std::unexpected(cell.error());
}

SetupResult<StartedOwn> CellFactory::start_gateway(std::uint32_t user,
                                                   const std::vector<int>& channels) {
  return start_own({made_.gateway, wire::OwnProgram::gateway, user}, channels);
}

SetupResult<StartedOwn> CellFactory::start_audit_writer(const std::vector<int>& channels) {
  return start_own({made_.audit_writer, wire::OwnProgram::audit}, channels);
}

SetupResult<StartedOwn> CellFactory::start_http(const std::vector<int>& channels) {
  return start_own({made_.http, wire::OwnProgram::http}, channels);
}

SetupResult<StartedOwn> CellFactory::start_metrics(const std::vector<int>& channels) {
  return start_own({made_.metrics, wire::OwnProgram::metrics}, channels);
}

// The rules that it is to hold to, and of the rest of the configuration nothing.
SetupResult<StartedOwn> CellFactory::start_egress(const EgressEnds& ends) {
  const auto rules = make_sealed(
      "cellblock-config", encode(egress_alone(config_.servers[ends.sockets.start.server_index])));
  if (!rules) return failed_at(SetupStep::prepare, rules.error());
  wire::EgressStart start = ends.sockets.start;
  start.server_index = 0;
  const auto words = make_sealed("cellblock-egress", std::as_bytes(std::span(&start, 1)));
  if (!words) return failed_at(SetupStep::prepare, words.error());
  std::vector<int> channels = {ends.events.second.get(), rules->get(), words->get()};
  for (const Fd& socket : ends.sockets.sockets) channels.push_back(socket.get());
  return start_own({made_.egress, wire::OwnProgram::egress}, channels);
}

namespace {

using wire::ReloadRefusal;

std::unexpected<NotReloaded> refuse(ReloadRefusal refusal) {
  return std::unexpected(NotReloaded{.refusal = refusal});
}

std::unexpected<NotReloaded> not_prepared(const Unprepared& why) {
  return std::unexpected(
      NotReloaded{.refusal = ReloadRefusal::not_prepared, .failure = why.failure});
}

/// What cells are started from, and what was prepared for it.
struct Prepared {
  const Config& config;
  const Preparation& made;
};

// For the same declaration that is in use: nothing gets worse for it.
bool was_broken(const Prepared& now, const Server& server, std::uint32_t index) {
  if (index >= now.made.servers.size() || !failure_of(now.made.servers[index])) return false;
  const Server& before = now.config.servers[index];
  return before.enabled && before.binds == server.binds && before.workspace == server.workspace;
}

// A server that may not be started is no worse than before. What a user without rights can break
// does not stop a reload: it breaks that server alone.
std::optional<NotReloaded> first_worse(const Prepared& now, const Prepared& next) {
  for (std::uint32_t i = 0; i < next.made.servers.size(); ++i) {
    const auto broken = failure_of(next.made.servers[i]);
    const Server& server = next.config.servers[i];
    if (!broken || !server.is_usable() || server.found.others_can_change) continue;
    if (was_broken(now, server, i)) continue;
    return NotReloaded{ReloadRefusal::not_prepared, i, *broken};
  }
  return std::nullopt;
}

}  // namespace

std::expected<void, NotReloaded> CellFactory::reload(int config_bytes, Fd secrets, Fd mounts,
                                                     Fd owner_mounts) {
  auto next = read_sealed_config(config_bytes);
  if (!next) return refuse(ReloadRefusal::unreadable);
  SecretStore next_secrets(std::move(secrets));
  if (!next_secrets.fits(*next)) return refuse(ReloadRefusal::unreadable);
  const ReloadRefusal refusal = refusal_of(at_start_, config_, *next);
  if (refusal != ReloadRefusal::none) return refuse(refusal);
  const auto host = HostTree::of(std::move(mounts));
  if (!host) return not_prepared(host.error());
  const std::uint64_t number = 3 - number_;
  if (const auto reserved = reserve_owner_ids(base_.state, *next); !reserved) {
    return refuse(ReloadRefusal::id_taken);
  }
  auto made = prepare_cells(*next, {*host, owner_mounts.get(), made_.owners}, programs_, number);
  if (!made) return not_prepared(made.error());
  if (const auto worse = first_worse({config_, made_}, {*next, *made})) {
    return std::unexpected(*worse);
  }
  config_ = std::move(*next);
  made_ = std::move(*made);
  number_ = number;
  secrets_ = std::move(next_secrets);
  return {};
}

}  // namespace cellblock::launcher
