#pragma once

#include <vector>

#include "policy/config.h"
#include "policy/host_facts.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `env_from_file`, `secret_files` and `secret_memfds` of a server, in this order. Each name stands
/// once in all of them and `env`, together with the variables that tell where a secret is.
std::vector<SecretVariable> check_secrets(const Scope& scope, const ServerText& text,
                                          const HostFacts& facts);

}  // namespace cellblock
