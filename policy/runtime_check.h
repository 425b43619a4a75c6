#pragma once

#include "policy/config.h"
#include "policy/host_facts.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// A warning for a runtime that compiles while it runs where the server's memory may not be written
/// and then executed: it would end at once, and without a word.
void check_runtime(const Scope& scope, const ServerText& text, const SyscallRules& rules,
                   const HostFacts& facts);

}  // namespace cellblock
