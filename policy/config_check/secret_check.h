#pragma once

#include <vector>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// `env_from_file`, `secret_files` and `secret_memfds` of a server, in this order. Each name stands
/// once in all of them and `env`, together with the variables that tell where a secret is.
std::vector<SecretVariable> check_secrets(const Scope& scope, const ServerText& text,
                                          const HostFacts& facts);

}  // namespace cellblock
