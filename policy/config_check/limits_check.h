#pragma once

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

/// What the host has to have for the bounds of a server.
namespace cellblock {

/// A declared limit that this host or version cannot enforce is an error, unless
/// `limits.require = false`.
Limits check_limits(const Scope& scope, const Written& written, const HostFacts& facts);

/// The helper of a cell with egress needs descriptors for all its connections.
void check_egress_files(const Scope& scope, const ServerText& text, const Egress& egress,
                        const HostFacts& facts);

}  // namespace cellblock
