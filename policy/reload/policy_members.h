#pragma once

#include "policy/config/config.h"

/// What of a configuration decides about requests and not about cells: it takes effect at once, and
/// what a server offers does not depend on it. Named once: what changes at once, what needs other
/// cells, and what a kept catalogue belongs to must agree.
namespace cellblock {

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
  visit("validate_arguments", &Server::validate_arguments);
  visit("always_listed", &Server::always_listed);
}

/// The same for what is no server's.
template <class Visit>
void for_each_policy_member(Visit visit) {
  visit("daemon.enabled", &Config::enabled);
  visit("daemon.admins", &Config::admins);
  visit("daemon.max_cells", &Config::cells);
  visit("daemon.max_cells_per_user", &Config::cells);
  visit("role", &Config::roles);
  visit("broken roles and tokens", &Config::broken);
  visit("calls", &Config::calls);
  visit("aggregate.tools", &Config::aggregate);
}

}  // namespace cellblock
