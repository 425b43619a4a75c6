#pragma once

#include <vector>

#include "policy/rates/call_rules.h"
#include "policy/rates/calls_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `scope`: of the main file's top level.
UserCalls check_user_calls(const Scope& scope, const UserCallsText& text);

/// `scope`: of the server.
ServerCalls check_server_calls(const Scope& scope, const ServerCallsText& text,
                               const std::vector<ToolCallsText>& tools);

}  // namespace cellblock
