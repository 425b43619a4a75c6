#pragma once

#include <vector>

#include "policy/bind_check.h"
#include "policy/config.h"
#include "policy/host_facts.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

/// One server's text -> Server.
namespace cellblock {

struct Surroundings {
  const Identity& identity;
  const std::vector<ProtectedPath>& protected_paths;
  const HostFacts& facts;
};

Server check_server(Complaints& complaints, const ServerText& text, const Surroundings& around);

/// [a-z][a-z0-9-]{0,62}
bool is_server_name(std::string_view name);

}  // namespace cellblock
