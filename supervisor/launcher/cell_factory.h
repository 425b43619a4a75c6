#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/config.h"
#include "supervisor/kernel/wire.h"
#include "supervisor/launcher/cell_group.h"
#include "supervisor/launcher/egress_network.h"
#include "supervisor/launcher/id_pool.h"
#include "supervisor/launcher/network_pool.h"
#include "supervisor/launcher/secret_store.h"
#include "supervisor/launcher/spawn.h"
#include "supervisor/launcher/state_directory.h"
#include "supervisor/launcher/workspace_roots.h"

namespace cellblock::launcher {

/// The launcher's ends of a server's pipes, for its gateway.
struct StdioEnds {
  Fd input;  ///< to write the server's stdin
  Fd output;
  Fd errors;
};

/// cellblock's programs that live in cells, opened by the supervisor while it could reach them.
struct OwnPrograms {
  Fd gateway;
  Fd audit_writer;
  Fd egress;
  Fd probe;
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
};

/// Everything that is prepared at start-up, and the spawns made from it. One thread.
class CellFactory {
 public:
  /// Enters the launcher's own root, prepares one blueprint per server (a server whose paths cannot
  /// be prepared is kept with its failure) and forgets the host's file system.
  /// `groups`: the directory for the cells' control groups (wire::launcher_fd::cgroup); not valid:
  /// there is none.
  static Result<CellFactory> prepare(const Config& config, Fd secrets, OwnPrograms programs,
                                     Fd groups);

  /// `workspace`: the descriptor that a host passed, which stays the caller's; -1: none.
  SetupResult<StartedServer> start_server(std::uint32_t server_index, std::uint32_t user,
                                          wire::CellProgram program = wire::CellProgram::server,
                                          int workspace = -1);

  /// `channels` become descriptors 3, 4 ... of the program.
  SetupResult<StartedOwn> start_gateway(const std::vector<int>& channels);
  SetupResult<StartedOwn> start_audit_writer(const std::vector<int>& channels);
  SetupResult<StartedOwn> start_egress(const EgressEnds& ends, int config_bytes);
  void give_back(std::uint32_t id) { own_ids_.give_back(id); }

  /// To be refilled whenever its timer says so.
  NetworkPool& networks() { return networks_; }

 private:
  CellFactory(Config config, StateDirectory state, SecretStore secrets, FilterProgram init_filter,
              IdPool own_ids, NetworkPool networks)
      : config_(std::move(config)),
        state_(std::move(state)),
        secrets_(std::move(secrets)),
        init_filter_(std::move(init_filter)),
        own_ids_(std::move(own_ids)),
        networks_(std::move(networks)) {}

  SetupResult<StartedOwn> start_own(const Blueprint& blueprint, const std::vector<int>& channels);
  SetupResult<SpawnRequest> request_for(std::uint32_t server_index, std::uint32_t user);
  void keep_workspaces(Blueprint& blueprint, const Server& server, int host);
  SetupResult<HostIds> ids_for(const Server& server, std::uint32_t user);
  SetupResult<Fd> home_for(const Server& server, std::uint32_t user, const HostIds& owner);
  SetupResult<SpawnRequest::Passed> workspace_for(const Server& server, int directory) const;
  SetupResult<Fd> network_for(const Blueprint& blueprint);
  SetupResult<std::optional<EgressEnds>> egress_for(std::uint32_t server_index, int network) const;
  SetupResult<CellGroup> group_for(const Server& server);
  SetupResult<void> add_secrets(SpawnRequest& request, std::uint32_t server_index) const;
  void make_probe(SpawnRequest& request, const Server& server) const;

  Config config_;
  StateDirectory state_;
  SecretStore secrets_;
  FilterProgram init_filter_;
  IdPool own_ids_;
  NetworkPool networks_;
  CellGroups cell_groups_;
  WorkspaceRoots workspaces_;
  std::vector<Blueprint> servers_;
  Blueprint gateway_;
  Blueprint audit_writer_;
  Blueprint egress_;  ///< empty where no server has egress
  ChildPlan::Groups groups_ = ChildPlan::Groups::clear;
  Fd probe_;
  Fd null_;  ///< /dev/null
};

}  // namespace cellblock::launcher
