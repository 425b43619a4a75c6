#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

/// `env` of a server and its secrets.
namespace cellblock {

/// Why this is no name of a systemd credential; none: it is one. As systemd has it: the name of a
/// file of at most 255 bytes of ASCII, without control characters and ":".
std::optional<std::string> credential_problem(std::string_view name);

/// `env` of a server.
std::vector<EnvironmentVariable> check_environment(const Scope& scope, const ServerText& text);

/// False: it is no variable's name, or of one that is never set from here, and complained about.
bool check_variable_name(const Scope& scope, const TextAt& name);

/// `env_from_file`, `secret_files` and `secret_memfds` of a server, in this order. Each name stands
/// once in all of them and `env`, together with the variables that tell where a secret is.
std::vector<SecretVariable> check_secrets(const Scope& scope, const ServerText& text,
                                          const HostFacts& facts);

}  // namespace cellblock
