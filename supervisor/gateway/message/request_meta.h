#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "supervisor/gateway/message/json_tree.h"

/// Requests as they pass a bridge: what each era has in `_meta`, and whose question an elicitation
/// is.
namespace cellblock::gateway {

// The members of `_meta` that MCP reserves (policy/mcp/protocol_words.h), on the way from one era
// to the other. All others pass.

/// How both bridges introduce themselves to a server.
Json own_client_info();

/// Takes the reserved names out of `params._meta` or `result._meta`, and a `_meta` that had nothing
/// else.
void strip_reserved_meta(Json& holder);

/// `log_level` may be empty.
void stamp_request(Json& params, const Json& client_capabilities, const std::string& log_level);

/// A message of an elicitation begins with `[server NAME] `, so that a person sees who asks.
/// `server` may be empty.
void name_the_asker(std::string_view method, Json& params, std::string_view server);

/// For a modern host: {method, params}, without what only the legacy era has.
Json modern_question(std::string_view method, Json params, std::string_view server);

/// For a legacy host: the params. `elicitation_id` is for a URL, which there must have one.
Json legacy_question(std::string_view method, Json params, std::string_view server,
                     std::string_view elicitation_id);

}  // namespace cellblock::gateway
