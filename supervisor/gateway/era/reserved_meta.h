#pragma once

#include <optional>
#include <string>

#include "supervisor/gateway/era/json_tree.h"

/// The names that MCP reserves in `_meta`. Trace context, progress tokens and vendors' own names
/// are none of them, and pass.
namespace cellblock::gateway {

namespace meta_key {
inline constexpr const char* version = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* capabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* client = "io.modelcontextprotocol/clientInfo";
inline constexpr const char* log_level = "io.modelcontextprotocol/logLevel";
inline constexpr const char* server = "io.modelcontextprotocol/serverInfo";
inline constexpr const char* subscription = "io.modelcontextprotocol/subscriptionId";
inline constexpr const char* related_task = "io.modelcontextprotocol/related-task";
}  // namespace meta_key

/// As both bridges introduce themselves to a server.
Json own_client_info();

/// Takes them out of `params._meta` or `result._meta`, and a `_meta` that had nothing else.
void strip_reserved_meta(Json& holder);

/// The error for a request of a modern host without what each of them must carry; null: it has all.
Json envelope_error(const Json& params);

/// `log_level` may be empty.
void stamp_request(Json& params, const Json& client_capabilities, const std::string& log_level);

}  // namespace cellblock::gateway
