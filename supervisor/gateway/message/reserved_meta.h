#pragma once

#include <optional>
#include <string>

#include "supervisor/gateway/message/json_tree.h"

/// What MCP reserves in `_meta` (policy/mcp/meta_keys.h), between the eras. All else passes.
namespace cellblock::gateway {

/// As both bridges introduce themselves to a server.
Json own_client_info();

/// Takes the reserved names out of `params._meta` or `result._meta`, and a `_meta` that had nothing
/// else.
void strip_reserved_meta(Json& holder);

/// `log_level` may be empty.
void stamp_request(Json& params, const Json& client_capabilities, const std::string& log_level);

}  // namespace cellblock::gateway
