#pragma once

#include "policy/config/config.h"
#include "policy/config_check/people_check.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

/// `[flows]`, and `[server.NAME.flows]`.
namespace cellblock {

FlowRules check_flows(Complaints& complaints, const ConfigText& main, const Accounts& accounts);

/// Warns of rules about servers that nobody has declared. `config`: with its servers.
void warn_of_flow_servers(Complaints& complaints, const ConfigText& main, const Config& config);

/// `server`: with its network.
FlowTools check_flow_tools(const Scope& scope, const ServerText& text, const Server& server);

}  // namespace cellblock
