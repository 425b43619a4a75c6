#pragma once

#include <cstdint>

#include "policy/config/config.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/cell/server_cell.h"
#include "supervisor/gateway/checks/call_access.h"
#include "supervisor/gateway/checks/pin_gate.h"
#include "supervisor/gateway/checks/request_gate.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/sealer.h"
#include "supervisor/gateway/message/start_when.h"
#include "supervisor/gateway/message/upstream_ids.h"

namespace cellblock::gateway {

class KeptResults;
class KeptTotal;

/// What all machines of a gateway share. Outlives them.
struct SharedParts {
  const Config& config;
  UpstreamIds& ids;
  MessageScanner& scanner;
  Sealer& sealer;
  UserPolicy& policy;
  PinBook* pins = nullptr;          ///< null: nothing is pinned
  KeptTotal* kept_total = nullptr;  ///< null: nothing of results is kept
  KeptResults* kept = nullptr;      ///< the session's, of those; which sets it
};

/// What its session is attached to. Lists that a host of all servers asks for do not become part of
/// the catalogues: what it is shown is made from them.
enum class LegOf : std::uint8_t { one_server, all_servers };

/// One server route: to which server, and how.
struct ServerRouteParts {
  SharedParts shared;
  const SessionAccess& access;  ///< outlives the server route
  CellPlan plan;
  std::uint64_t session = 0;
  StartWhen start = StartWhen::now;
  LegOf of = LegOf::one_server;
  ReadingTool reading_tool = ReadingTool::not_listed;

  const Server& server() const { return shared.config.servers[plan.server]; }
  GateParts gate(std::uint64_t cell) const {
    return {.server = server(),
            .policy = shared.policy,
            .server_index = plan.server,
            .session = session,
            .cell = cell,
            .kept = shared.kept,
            .reading_tool = reading_tool,
            .bounds_results = plan.program == wire::CellProgram::server,
            .pins = pin_gate()};
  }
  const Rights& rights() const {
    return plan.program == wire::CellProgram::probe ? probe_rights() : access.rights(plan.server);
  }
  PinGate pin_gate() const {
    if (shared.pins == nullptr || plan.program == wire::CellProgram::probe) return {};
    return {*shared.pins, plan.server, server(),
            plan.has_workspace ? Directory::handed_in : Directory::none};
  }
};

}  // namespace cellblock::gateway
