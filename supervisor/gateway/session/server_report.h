#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/sandbox/source_access.h"
#include "supervisor/gateway/records/cell_incidents.h"

/// Parts of one server's entry in cellblock/status.
namespace cellblock::gateway {

/// Each limit with what holds it: "cgroup", "rlimit", "tmpfs", or "nothing" where this host cannot.
nlohmann::ordered_json limits_json(const Server& server, const Cgroup& cgroup);

/// What may be passed in, and by whose right the server gets at it.
nlohmann::ordered_json workspace_json(const Server& server);

/// "read_*": what the rules give this person, as they name it.
std::vector<std::string> tools_in(const Rights& rights);
/// What the cells see and are given: paths, names of variables and secrets (never a value); and
/// `tools`, tools_in() of whoever asks. With each path what stops the cells of `whose` from using
/// it.
struct CellWhose {
  CellClient user;
  const Identity& identity;
};
nlohmann::ordered_json declared_json(const Server& server, const std::vector<std::string>& tools,
                                     const CellWhose& whose);

/// What is allowed, and what came of it so far.
nlohmann::ordered_json egress_json(const Egress& egress, const EgressTotals& totals);

/// The most frequent kinds.
nlohmann::ordered_json denied_kinds_json(const DeniedLog& denied);

}  // namespace cellblock::gateway
