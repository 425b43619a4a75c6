#pragma once

#include <string_view>
#include <vector>

#include "policy/jsonrpc/message_edit.h"

/// A person who is asked must see which server asks (MCP, elicitation): the host knows cellblock
/// only.
namespace cellblock::gateway {

/// What puts `[server NAME] ` before each question of the message that does not begin with it.
void say_who_asks(std::string_view line, const Message& message, std::string_view server,
                  std::vector<Replacement>& edits);

}  // namespace cellblock::gateway
