#pragma once

#include <vector>

#include "policy/config/call_rules.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/calls_text.h"

namespace cellblock {

/// `scope`: of the main file's top level.
UserCalls check_user_calls(const Scope& scope, const UserCallsText& text);

/// `scope`: of the server.
ServerCalls check_server_calls(const Scope& scope, const ServerCallsText& text,
                               const std::vector<ToolCallsText>& tools);

}  // namespace cellblock
