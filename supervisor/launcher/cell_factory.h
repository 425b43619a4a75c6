#pragma once

#include <string>
#include <vector>

#include "policy/config.h"
#include "supervisor/launcher/id_pool.h"
#include "supervisor/launcher/network_pool.h"
#include "supervisor/launcher/secret_store.h"
#include "supervisor/launcher/spawn.h"
#include "supervisor/launcher/state_directory.h"

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
};

/// One of cellblock's own processes in its cell.
struct StartedOwn {
  SpawnedCell cell;
  std::uint32_t id = 0;  ///< for give_back() when it has ended
};

struct StartedServer {
  SpawnedCell cell;
  StdioEnds stdio;
};

/// Everything that is prepared at start-up, and the spawns made from it. One thread.
class CellFactory {
 public:
  /// Enters the launcher's own root, prepares one blueprint per server (a server whose paths cannot
  /// be prepared is kept with its failure) and forgets the host's file system.
  static Result<CellFactory> prepare(const Config& config, Fd secrets, OwnPrograms programs);

  SetupResult<StartedServer> start_server(std::uint32_t server_index, std::uint32_t user);

  /// `channels` become descriptors 3, 4 ... of the program.
  SetupResult<StartedOwn> start_gateway(const std::vector<int>& channels);
  SetupResult<StartedOwn> start_audit_writer(const std::vector<int>& channels);
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
  SetupResult<SpawnRequest> request_for(const std::string& server, std::uint32_t user);
  SetupResult<Fd> network_for(const Blueprint& blueprint);

  Config config_;
  StateDirectory state_;
  SecretStore secrets_;
  FilterProgram init_filter_;
  IdPool own_ids_;
  NetworkPool networks_;
  std::vector<Blueprint> servers_;
  Blueprint gateway_;
  Blueprint audit_writer_;
  ChildPlan::Groups groups_ = ChildPlan::Groups::clear;
  Fd null_;  ///< /dev/null
};

}  // namespace cellblock::launcher
