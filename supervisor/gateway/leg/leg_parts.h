#pragma once

#include <cstdint>

#include "policy/config.h"
#include "policy/jsonrpc.h"
#include "supervisor/gateway/cell/server_cell.h"
#include "supervisor/gateway/conversation/sealer.h"
#include "supervisor/gateway/conversation/upstream_ids.h"
#include "supervisor/gateway/policy/call_access.h"
#include "supervisor/gateway/policy/session_access.h"
#include "supervisor/gateway/session/start_when.h"

namespace cellblock::gateway {

/// What all machines of a gateway share. Outlives them.
struct SharedParts {
  const Config& config;
  UpstreamIds& ids;
  MessageScanner& scanner;
  Sealer& sealer;
};

/// Whether the lists that its host asks for become part of the catalogues.
enum class Teaches : std::uint8_t { lists, nothing };

/// One leg: to which server, and how.
struct LegParts {
  SharedParts shared;
  const SessionAccess& access;  ///< outlives the leg
  CellPlan plan;
  std::uint64_t session = 0;
  StartWhen start = StartWhen::now;
  Teaches teaches = Teaches::lists;

  const Server& server() const { return shared.config.servers[plan.server]; }
  const Rights& rights() const {
    return plan.program == wire::CellProgram::probe ? probe_rights() : access.rights(plan.server);
  }
};

}  // namespace cellblock::gateway
