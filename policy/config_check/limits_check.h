#pragma once

#include <vector>

#include "policy/config/call_rules.h"
#include "policy/config/cell_rules.h"
#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config/result_rules.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"
#include "policy/config_reader/written.h"

/// The bounds of a server: `limits`, `restart`, `start`, `calls` and `results`, and what the
/// installation says of the last two.
namespace cellblock {

/// A declared limit that this host or version cannot enforce is an error, unless
/// `limits.require = false`.
Limits check_limits(const Scope& scope, const Written& written, const HostFacts& facts);

/// The helper of a cell with egress needs descriptors for all its connections.
void check_egress_files(const Scope& scope, const ServerText& text, const Egress& egress,
                        const HostFacts& facts);

/// `scope`: of the server.
RestartRules check_restart(const Scope& scope, const Written& written);

/// `scope`: of the server, of which everything else has been checked. Fills `start` and the
/// time-out of the handshake.
void check_start(const Scope& scope, const Written& written, Server& server);

/// `scope`: of the main file's top level.
UserCalls check_user_calls(const Scope& scope, const Written& written);

/// `scope`: of the server.
ServerCalls check_server_calls(const Scope& scope, const Written& written,
                               const std::vector<ToolText>& tools);

/// `[results]`.
struct CheckedResults {
  ResultBounds bounds;
  ResultKeeping keeping;
};

/// `scope`: of the main file's top level.
CheckedResults check_results(const Scope& scope, const Written& written);

/// `scope`: of the server. What it does not say is as in `[results]`, what a tool does not say as
/// for its server.
ServerResults check_server_results(const Scope& scope, const Written& written,
                                   const std::vector<ToolText>& tools,
                                   const ResultBounds& defaults);

}  // namespace cellblock
