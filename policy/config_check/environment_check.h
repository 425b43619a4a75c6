#pragma once

#include <vector>

#include "policy/config/config.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

/// `env` of a server.
namespace cellblock {

std::vector<EnvironmentVariable> check_environment(const Scope& scope, const ServerText& text);

/// False: it is no variable's name, or of one that is never set from here, and complained about.
bool check_variable_name(const Scope& scope, const TextAt& name);

}  // namespace cellblock
