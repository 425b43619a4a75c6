#pragma once

#include <string>
#include <vector>

#include "policy/config.h"
#include "policy/host_facts.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

/// `env` and `env_from_file` of a server.
namespace cellblock {

std::vector<EnvironmentVariable> check_environment(const Scope& scope, const ServerText& text);

/// `env_from_file`; a name that `env` has as well is refused.
std::vector<SecretVariable> check_secrets(const Scope& scope, const ServerText& text,
                                          const HostFacts& facts);

}  // namespace cellblock
