#pragma once

#include <cstddef>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/bind_check.h"
#include "policy/config_check/profile_check.h"
#include "policy/config_check/redaction_check.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

/// One server's text -> Server.
namespace cellblock {

struct Surroundings {
  RunMode mode = RunMode::system;
  const Identity& identity;
  const Profiles& profiles;
  const std::vector<ProtectedPath>& protected_paths;
  const std::vector<std::string>& written;  ///< written_by_cells
  const HostFacts& facts;
  const std::vector<Role>& roles;
  const ResultBounds& results;
  const RedactionPlan& redaction;
  std::size_t owner_mount_room = 0;  ///< how many the configuration may still have
};

/// A checked server, and who can be run as for its sake.
struct CheckedServer {
  Server server;
  std::vector<ClientId> clients;
};

CheckedServer check_server(Complaints& complaints, const ServerText& text,
                           const Surroundings& around);

}  // namespace cellblock
