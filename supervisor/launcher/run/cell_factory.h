#pragma once

#include <cerrno>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "policy/sandbox/environment_rules.h"
#include "supervisor/ipc/log_wire.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/child/attached_record.h"
#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/launcher/prepare/cell_group.h"
#include "supervisor/launcher/prepare/cell_identity.h"
#include "supervisor/launcher/prepare/cell_preparation.h"
#include "supervisor/launcher/prepare/egress_network.h"
#include "supervisor/launcher/prepare/host_tree.h"
#include "supervisor/launcher/prepare/network_pool.h"
#include "supervisor/launcher/prepare/reload_compatibility.h"
#include "supervisor/launcher/prepare/spawn_environment.h"
#include "supervisor/launcher/prepare/state_directory.h"
#include "supervisor/launcher/run/spawn.h"
#include "supervisor/os/sys.h"
#include "supervisor/seccomp/seccomp_filter.h"

/// Starts cells of the configuration in use, out of what the launcher keeps for all of them.
namespace cellblock::launcher {

/// What the launcher keeps from its start to its end, through every reload.
struct LauncherResources {
  LauncherResources(StateDirectory opened, FilterProgram filter, IdPool ids, NetworkPool pool)
      : state(std::move(opened)),
        init_filter(std::move(filter)),
        own_ids(std::move(ids)),
        networks(std::move(pool)) {}

  StateDirectory state;
  FilterProgram init_filter;
  IdPool own_ids;
  NetworkPool networks;
  ChildPlan::Groups groups = ChildPlan::Groups::clear;
  Fd null;  ///< /dev/null
};

struct Founded {
  LauncherResources foundation;
  HostTree host;  ///< until forget_host() (own_root.h)
};

/// Enters the launcher's own root.
Result<Founded> open_launcher_resources(const Config& config);

/// One pipe for the log of each of cellblock's own processes in cells; the supervisor reads the
/// other end. None of them has the daemon's own stderr, in which it could overwrite the lines of
/// others.
class LogPipes {
 public:
  /// `channel`: wire::launcher_fd::log. Not valid: all say it on the launcher's stderr.
  explicit LogPipes(Fd channel) : channel_(std::move(channel)) {}

  /// The end to write to, when the supervisor has been sent the other.
  SysResult<Fd> make(const wire::LogPipe& whose) const;

 private:
  Fd channel_;
};

/// The launcher's ends of a server's pipes, for its gateway.
struct StdioEnds {
  Fd input;  ///< to write the server's stdin
  Fd output;
  Fd errors;
};

/// One of cellblock's own processes in its cell.
struct StartedOwn {
  SpawnedCell cell;
  std::uint32_t id = 0;  ///< for give_back() when it has ended
};

/// What a server with egress has to be given a helper with.
struct EgressEnds {
  EgressSockets sockets;
  Pair events;  ///< first: the gateway's end, second: the helper's
};

struct StartedServer {
  SpawnedCell cell;
  StdioEnds stdio;
  std::optional<EgressEnds> egress;
  Fd resolver;  ///< with network = "none": for its gateway, which answers for names there
};

/// Why a configuration was not taken.
struct NotReloaded {
  wire::ReloadRefusal refusal{};
  std::uint32_t server = wire::no_server;
  SetupFailure failure{};  ///< with not_prepared
};

/// The spawns, made from what was prepared for the configuration that holds. One thread.
class CellFactory {
 public:
  /// With open_launcher_resources() and prepare_cells(); then the host is forgotten.
  /// `groups`: the directory for the cells' control groups (wire::launcher_fd::cgroup); not valid:
  /// there is none. `owner_mounts`: owner_trees.h.
  static Result<CellFactory> prepare(const Config& config, Fd secrets, OwnPrograms programs,
                                     Fd groups, Fd owner_mounts);

  /// Makes every spawn from another configuration from now on, prepared from the host as it is in
  /// `mounts` (host_tree.h); cells that run stay as they are. Or changes nothing: also when a
  /// server could not be started any more that can be now, or is new.
  std::expected<void, NotReloaded> reload(int config_bytes, Fd secrets, Fd mounts, Fd owner_mounts);
  const Config& config() const { return config_; }

  /// `workspace`: the directory that a host passed; nullptr: none.
  SetupResult<StartedServer> start_server(std::uint32_t server_index, const ClientNames& client,
                                          wire::CellProgram program = wire::CellProgram::server,
                                          const PassedDirectory* workspace = nullptr);

  /// The home that this server keeps for this user. ENOENT: there is none, or it is temporary.
  SysResult<StateDirectory::KeptHome> kept_home(std::uint32_t server_index,
                                                std::uint32_t user) const {
    const Server& server = config_.servers[server_index];
    if (server.home != HomeKind::temporary) return base_.state.kept_home(server.name, user);
    return std::unexpected(SysError{"openat2", ENOENT});
  }

  /// `channels` become descriptors 3, 4 ... of the program. What this user's gateways keep is its
  /// home.
  SetupResult<StartedOwn> start_gateway(std::uint32_t user, const std::vector<int>& channels);
  SetupResult<StartedOwn> start_audit_writer(const std::vector<int>& channels);
  SetupResult<StartedOwn> start_http(const std::vector<int>& channels);
  SetupResult<StartedOwn> start_metrics(const std::vector<int>& channels);
  SetupResult<StartedOwn> start_egress(const EgressEnds& ends);
  void give_back(std::uint32_t id) { base_.own_ids.give_back(id); }

  /// To be refilled whenever its timer says so.
  NetworkPool& networks() { return base_.networks; }

 private:
  static constexpr std::uint64_t first_number = 1;

  CellFactory(Config config, OwnPrograms programs, LauncherResources base, Preparation made,
              SecretStore secrets, CellGroups cell_groups)
      : at_start_(start_facts(config)),
        config_(std::move(config)),
        log_(std::move(programs.log)),
        programs_(std::move(programs)),
        base_(std::move(base)),
        made_(std::move(made)),
        secrets_(std::move(secrets)),
        cell_groups_(std::move(cell_groups)) {}

  struct OwnProcess {
    const CellTemplate& blueprint;
    wire::OwnProgram program{};
    std::optional<std::uint32_t> user{};  ///< the user whose cache it is given; none: no cache
  };
  SetupResult<StartedOwn> start_own(const OwnProcess& process, const std::vector<int>& channels);
  SetupResult<SpawnedCell> spawn_own(const OwnProcess& process, const std::vector<int>& channels,
                                     std::uint32_t id);
  SetupResult<Fd> cache_for(std::optional<std::uint32_t> user, const HostIds& owner) const;
  SetupResult<SpawnRequest> request_for(std::uint32_t server_index, const ClientNames& client);
  HostIds ids_of(std::uint32_t id) const;  ///< of a cell with that id
  SetupResult<HostIds> ids_for(const Server& server, std::uint32_t user);
  SetupResult<Fd> home_for(const Server& server, std::uint32_t user, const HostIds& owner,
                           wire::CellProgram program);
  SetupResult<SpawnRequest::Passed> workspace_for(const Server& server,
                                                  const PassedDirectory* directory) const;
  SetupResult<CellNetwork> network_for(const CellTemplate& blueprint);
  SetupResult<std::optional<EgressEnds>> egress_for(std::uint32_t server_index, int network) const;
  SetupResult<CellGroup> group_for(const Server& server);
  SetupResult<void> add_secrets(SpawnRequest& request, std::uint32_t server_index) const;
  void make_probe(SpawnRequest& request, const Server& server) const;

  StartFacts at_start_;
  Config config_;
  LogPipes log_;
  OwnPrograms programs_;
  LauncherResources base_;
  Preparation made_;
  std::uint64_t number_ = first_number;  ///< of `made_`: 1 and 2 in turn
  SecretStore secrets_;
  CellGroups cell_groups_;
};

}  // namespace cellblock::launcher
