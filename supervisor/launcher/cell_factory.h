#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/client_placeholders.h"
#include "policy/config.h"
#include "supervisor/kernel/wire.h"
#include "supervisor/launcher/attached_record.h"
#include "supervisor/launcher/cell_group.h"
#include "supervisor/launcher/cell_preparation.h"
#include "supervisor/launcher/egress_network.h"
#include "supervisor/launcher/secret_store.h"
#include "supervisor/launcher/spawn.h"

namespace cellblock::launcher {

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
};

/// The spawns, made from what was prepared at start-up. One thread.
class CellFactory {
 public:
  /// With prepare_cells().
  /// `groups`: the directory for the cells' control groups (wire::launcher_fd::cgroup); not valid:
  /// there is none.
  static Result<CellFactory> prepare(const Config& config, Fd secrets, OwnPrograms programs,
                                     Fd groups);

  /// `workspace`: the directory that a host passed; nullptr: none.
  SetupResult<StartedServer> start_server(std::uint32_t server_index, const ClientNames& client,
                                          wire::CellProgram program = wire::CellProgram::server,
                                          const PassedDirectory* workspace = nullptr);

  /// `channels` become descriptors 3, 4 ... of the program. What this user's gateways keep is its
  /// home.
  SetupResult<StartedOwn> start_gateway(std::uint32_t user, const std::vector<int>& channels);
  SetupResult<StartedOwn> start_audit_writer(const std::vector<int>& channels);
  SetupResult<StartedOwn> start_http(const std::vector<int>& channels);
  SetupResult<StartedOwn> start_metrics(const std::vector<int>& channels);
  SetupResult<StartedOwn> start_egress(const EgressEnds& ends, int config_bytes);
  void give_back(std::uint32_t id) { made_.own_ids.give_back(id); }

  /// To be refilled whenever its timer says so.
  NetworkPool& networks() { return made_.networks; }

 private:
  CellFactory(Config config, Preparation made, SecretStore secrets, CellGroups cell_groups)
      : config_(std::move(config)),
        made_(std::move(made)),
        secrets_(std::move(secrets)),
        cell_groups_(std::move(cell_groups)) {}

  /// `cache_of`: the user whose cache it is given, or none.
  SetupResult<StartedOwn> start_own(const Blueprint& blueprint, const std::vector<int>& channels,
                                    std::optional<std::uint32_t> cache_of = std::nullopt);
  SetupResult<SpawnedCell> spawn_own(const Blueprint& blueprint, const std::vector<int>& channels,
                                     std::uint32_t id, std::optional<std::uint32_t> cache_of);
  SetupResult<Fd> cache_for(std::optional<std::uint32_t> user, const HostIds& owner) const;
  SetupResult<SpawnRequest> request_for(std::uint32_t server_index, const ClientNames& client);
  SetupResult<HostIds> ids_for(const Server& server, std::uint32_t user);
  SetupResult<Fd> home_for(const Server& server, std::uint32_t user, const HostIds& owner,
                           wire::CellProgram program);
  SetupResult<SpawnRequest::Passed> workspace_for(const Server& server,
                                                  const PassedDirectory* directory) const;
  SetupResult<Fd> network_for(const Blueprint& blueprint);
  SetupResult<std::optional<EgressEnds>> egress_for(std::uint32_t server_index, int network) const;
  SetupResult<CellGroup> group_for(const Server& server);
  SetupResult<void> add_secrets(SpawnRequest& request, std::uint32_t server_index) const;
  void make_probe(SpawnRequest& request, const Server& server) const;

  Config config_;
  Preparation made_;
  SecretStore secrets_;
  CellGroups cell_groups_;
};

}  // namespace cellblock::launcher
