#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/pins/pin_set.h"
#include "policy/redaction/redactor.h"
#include "policy/sandbox/source_access.h"
#include "supervisor/gateway/catalogue/catalogue_cache.h"
#include "supervisor/gateway/cell/cell_lifetime.h"
#include "supervisor/gateway/cell/restart_policy.h"
#include "supervisor/gateway/cell/stderr_log.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/records/audit_health.h"
#include "supervisor/gateway/records/cell_incidents.h"
#include "supervisor/gateway/session/pin_control.h"

/// cellblock/status and cellblock/logs: values in, raw JSON out.
namespace cellblock::gateway {

// The parts of one server's entry in cellblock/status.

/// Each limit with what holds it: "cgroup", "rlimit", "tmpfs", or "nothing" where this host cannot.
nlohmann::ordered_json limits_json(const Server& server, const Cgroup& cgroup);

/// What may be passed in, and by whose right the server gets at it.
nlohmann::ordered_json workspace_json(const Server& server);

/// "read_*": what the rules give this person, as they name it.
std::vector<std::string> tools_in(const Rights& rights);
/// What the cells see and are given: paths, and names of variables and secrets (never a value).
/// `tools`: tools_in() of the asking user. Each path comes with what stops the cells of `whose`
/// from using it.
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

struct LastEnd {
  Failure failure;
  std::int64_t at_ms = 0;  ///< Unix time
};

struct ServerRow {
  const Server* server = nullptr;
  const ServerIncidents* ledger = nullptr;  ///< may be null
  std::vector<CellRow> cells;
  const LastEnd* last_end = nullptr;
  const RestartPolicy* life = nullptr;  ///< may be null
  CatalogueView catalogue;
  const FoundCounts* found_to_server = nullptr;  ///< null: nothing
  const FoundCounts* found_to_host = nullptr;    ///< likewise
  const PinSet* pins = nullptr;                  ///< may be null
  std::vector<std::string> tools;                ///< tools_in()
};

/// What of the HTTP listener is this user's.
struct HttpUse {
  std::uint32_t uid = 0;
  std::size_t connections = 0;  ///< sessions that came over it
};

/// Reach::everything: roles and tokens that are left out are told as well.
std::string status_json(const Config& config, const std::vector<ServerRow>& servers,
                        const HttpUse& http, const AuditHealth& audit, Reach reach);
std::string logs_json(const StderrPage& page);
std::string denied_json(const std::vector<const Denied*>& denied);
std::string stopped_json(std::size_t cells);

}  // namespace cellblock::gateway
