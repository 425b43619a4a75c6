#pragma once

#include <vector>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

struct RunAsRules {
  RunMode mode = RunMode::system;
  const Identity& identity;
  const HostFacts& facts;
  const std::vector<Role>& roles;
};

/// Whether `run_as` is left to identity_choice.h.
bool is_automatic(const ServerText& text);

/// `run_as` of a server: "own", "client", or a user; "auto" is "own" until it is chosen.
RunAs check_run_as(const Scope& scope, const ServerText& text, const RunAsRules& rules);

/// The users to whom a server that runs as its client gives something, one by one, through their
/// groups or roles: who can be run as. Says whom it leaves out. Not sorted.
std::vector<ClientId> clients_of(const Scope& scope, const ServerText& text, const Server& server,
                                 const RunAsRules& rules);

}  // namespace cellblock
