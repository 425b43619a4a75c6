#pragma once

#include "policy/config/config.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

/// `[flows]`, and `[server.NAME.flows]`.
namespace cellblock {

FlowRules check_flows(Complaints& complaints, const ConfigText& main);

/// `server`: with its network.
FlowTools check_flow_tools(const Scope& scope, const ServerText& text, const Server& server);

}  // namespace cellblock
