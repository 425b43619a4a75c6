#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/config/config.h"

/// What a reload changes, by the names of keys and without their values. Pure.
namespace cellblock {

// The keys that decide about requests and not about cells: they take effect at once, and what a
// server offers does not depend on them. Named once: what changes at once, what needs other cells,
// and what a kept catalogue belongs to must agree.

/// `visit(name of the key, pointer to the member)` for each key of a server. Several keys may be
/// one member: which of them differs is not known then.
template <class Visit>
void for_each_policy_member_of_server(Visit visit) {
  visit("enabled", &Server::enabled);
  visit("allow", &Server::rules);
  visit("rule", &Server::rules);
  visit("calls", &Server::calls);
  visit("tool", &Server::calls);
  visit("results", &Server::results);
  visit("redaction", &Server::redaction);
  visit("start.when", &Server::start);
  visit("start.warm", &Server::start);
  visit("restart", &Server::restart);
  visit("accepted_definitions", &Server::accepted_definitions);
  visit("validate_arguments", &Server::validate_arguments);
  visit("always_listed", &Server::always_listed);
  visit("flows", &Server::flows);
}

/// The same for what is no server's.
template <class Visit>
void for_each_policy_member(Visit visit) {
  visit("daemon.enabled", &Config::enabled);
  visit("daemon.admins", &Config::admins);
  visit("daemon.drain", &Config::drain);
  visit("daemon.max_cells", &Config::cells);
  visit("daemon.max_cells_per_user", &Config::cells);
  visit("role", &Config::roles);
  visit("broken roles, tokens and users", &Config::broken);
  visit("calls", &Config::calls);
  visit("audit", &Config::audit);
  visit("listen.http", &Config::http);
  visit("aggregate.tools", &Config::aggregate);
  visit("flows", &Config::flows);
  visit("catalogue", &Config::catalogue);
}

enum class ServerChange : std::uint8_t {
  policy,    ///< takes effect with the next request
  cell,      ///< what its cells are made from
  added,     ///< behind the last
  returned,  ///< it was removed, and has its old place
  removed,
  broken,  ///< left out: nothing of it is started, and its sessions are ended
  mended,  ///< it was left out, and can be used
};

struct ChangedServer {
  std::string name;
  ServerChange what{};
  std::vector<std::string> keys{};  ///< with policy and cell: which differ, for people
  std::uint32_t index = 0;
  bool is_broken = false;  ///< it is left out by what is fresh
  bool is_pinned_otherwise = false;
  bool operator==(const ChangedServer&) const = default;
};

struct Difference {
  std::vector<ChangedServer> servers;  ///< in the order of their places
  std::vector<std::string> keys;       ///< that are no server's, and take effect at once
  std::vector<std::string> at_start;   ///< that take effect at a start only
  std::vector<std::string> left;       ///< that would be `at_start`, and were kept as they are
  bool empty() const { return servers.empty() && keys.empty() && at_start.empty(); }
};

/// Between a configuration in use and the one merged with it.
Difference difference(const Config& used, const Config& fresh);

/// "server files: allow, limits".
std::string line_of(const ChangedServer& server);
/// One line for each difference that takes effect.
std::vector<std::string> lines_of(const Difference& difference);

/// Why all of it is refused; empty: it is not.
std::string refusal_of(const Difference& difference);

}  // namespace cellblock
