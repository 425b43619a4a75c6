#pragma once

#include <cstddef>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

/// `run_as` of a server: the ids of its cells. Pure.
namespace cellblock {

// `run_as = "auto"`: a dedicated id where the server can work with it, else the client's.

/// Bound for one configuration: each mount is a descriptor that goes to the launcher in one
/// message.
inline constexpr std::size_t max_owner_mounts = 200;

struct IdentityChoice {
  RunAs run_as;                    ///< own or client
  std::vector<OwnerMount> mounts;  ///< with own, in system mode; sorted by uid and bind
};

/// The users of a server.
struct AllowedPeople {
  std::vector<Person> here;
  /// Its rules name a user that this host does not know now, so the listed ones may not be all.
  bool are_some_unknown = false;

  bool is_one() const { return here.size() == 1 && !are_some_unknown; }
};

/// `server` has its binds, their ownership and its workspace. `room`: how many owner mounts the
/// configuration may still have.
IdentityChoice choose_identity(const Server& server, const AllowedPeople& people, RunMode mode,
                               const Identity& identity, const HostFacts& facts, std::size_t room);

struct RunAsRules {
  RunMode mode = RunMode::system;
  const Identity& identity;
  const HostFacts& facts;
  const std::vector<Role>& roles;
};

/// Whether `run_as` is "auto", written or by default.
bool is_automatic(const ServerText& text);

/// `run_as` of a server: "own", "client", or a user; "auto" is "own" until it is chosen.
RunAs check_run_as(const Scope& scope, const ServerText& text, const RunAsRules& rules);

/// The users to whom a server with run_as = "client" gives something, each one, through groups and
/// roles too. Reports whom it leaves out. Not sorted.
std::vector<ClientId> clients_of(const Scope& scope, const ServerText& text, const Server& server,
                                 const RunAsRules& rules);

}  // namespace cellblock
