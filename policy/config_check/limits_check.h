#pragma once

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

/// `limits`, `lines`, `start` and `stop` of a server: its bounds in space and time.
namespace cellblock {

/// A declared limit that this host or version cannot enforce is an error, unless
/// `limits.require = false`.
Limits check_limits(const Scope& scope, const LimitsText& text, const HostFacts& facts);

/// The helper of a cell with egress needs descriptors for all its connections.
void check_egress_files(const Scope& scope, const ServerText& text, const Egress& egress,
                        const HostFacts& facts);

LineLimits check_lines(const Scope& scope, const LinesText& text);
Timeouts check_timeouts(const Scope& scope, const StartText& start, const StopText& stop);

}  // namespace cellblock
