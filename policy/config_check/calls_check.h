#pragma once

#include <vector>

#include "policy/config/call_rules.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// `scope`: of the main file's top level.
UserCalls check_user_calls(const Scope& scope, const Written& written);

/// `scope`: of the server.
ServerCalls check_server_calls(const Scope& scope, const Written& written,
                               const std::vector<ToolText>& tools);

}  // namespace cellblock
