#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/config.h"
#include "policy/failure.h"
#include "policy/pins/pin_set.h"
#include "policy/redaction/redactor.h"
#include "supervisor/gateway/audit/audit_health.h"
#include "supervisor/gateway/catalogue/catalogue_cache.h"
#include "supervisor/gateway/cell/cell_ledger.h"
#include "supervisor/gateway/cell/cell_lifetime.h"
#include "supervisor/gateway/cell/stderr_log.h"
#include "supervisor/gateway/conversation/conversation.h"
#include "supervisor/gateway/life/server_life.h"
#include "supervisor/gateway/session/control_request.h"

/// cellblock/status and cellblock/logs: values in, raw JSON out.
namespace cellblock::gateway {

struct CellRow {
  std::uint64_t cell = 0;
  std::uint64_t session = 0;
  std::set<std::uint64_t> sessions;  ///< that use it, where it is shared
  CellState state = CellState::stopped;
  std::int64_t uptime_ms = 0;
  wire::CellProgram program = wire::CellProgram::server;
  bool spare = false;
  bool workspace = false;
  bool revival = false;  ///< it took a session on
  Traffic traffic;
  std::uint64_t noise_lines = 0;      ///< of the server: no JSON-RPC
  std::uint64_t malformed_lines = 0;  ///< of the host
  std::vector<Label> labels;          ///< of its session, as the host says
  wire::CellUsage usage = {};         ///< 0: not known
};

struct LastEnd {
  Failure failure;
  std::int64_t at_ms = 0;  ///< Unix time
};

struct ServerRow {
  const Server* server = nullptr;
  const ServerLedger* ledger = nullptr;  ///< may be null
  std::vector<CellRow> cells;
  const LastEnd* last_end = nullptr;
  const ServerLife* life = nullptr;  ///< may be null
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

std::string status_json(const Config& config, const std::vector<ServerRow>& servers,
                        const HttpUse& http, const AuditHealth& audit);
std::string logs_json(const StderrPage& page);
std::string denied_json(const std::vector<const Denied*>& denied);
std::string stopped_json(std::size_t cells);

}  // namespace cellblock::gateway
