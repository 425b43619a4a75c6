#pragma once

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// A warning for a runtime that compiles while it runs where the server's memory may not be written
/// and then executed: it would end at once, and without a word.
void check_runtime(const Scope& scope, const ServerText& text, const SyscallRules& rules,
                   const HostFacts& facts);

}  // namespace cellblock
