#pragma once

#include <vector>

#include "policy/config_reader/calls_text.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {

UserCallsText read_user_calls(TableReader reader);
ServerCallsText read_server_calls(TableReader reader);
std::vector<ToolCallsText> read_tools(TableReader tools);

}  // namespace cellblock
