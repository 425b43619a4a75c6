#pragma once

#include <nlohmann/json_fwd.hpp>

#include "policy/config.h"
#include "supervisor/gateway/cell/cell_ledger.h"

/// Parts of one server's entry in cellblock/status.
namespace cellblock::gateway {

/// Each limit with what holds it: "cgroup", "rlimit", "tmpfs", or "nothing" where this host cannot.
nlohmann::ordered_json limits_json(const Server& server, const Cgroup& cgroup);

/// What may be passed in, and by whose right the server gets at it.
nlohmann::ordered_json workspace_json(const Server& server);

/// What the cells see and are given: paths, names of variables and secrets (never a value), tools.
nlohmann::ordered_json declared_json(const Server& server);

/// What is allowed, and what came of it so far.
nlohmann::ordered_json egress_json(const Egress& egress, const EgressTotals& totals);

/// The most frequent kinds.
nlohmann::ordered_json denied_kinds_json(const DeniedLog& denied);

}  // namespace cellblock::gateway
