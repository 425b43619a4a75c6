#pragma once

/// The names that MCP reserves in `_meta`, those of the extensions that cellblock knows, and
/// cellblock's own. Trace context, progress tokens and vendors' names are none of them.
namespace cellblock::mcp {

namespace meta_key {
inline constexpr const char* version = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* capabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* client = "io.modelcontextprotocol/clientInfo";
inline constexpr const char* log_level = "io.modelcontextprotocol/logLevel";
inline constexpr const char* server = "io.modelcontextprotocol/serverInfo";
inline constexpr const char* subscription = "io.modelcontextprotocol/subscriptionId";
inline constexpr const char* related_task = "io.modelcontextprotocol/related-task";

inline constexpr const char* bounded = "cellblock/bounded";
inline constexpr const char* cached = "cellblock/cached";
inline constexpr const char* error = "cellblock/error";
inline constexpr const char* unavailable = "cellblock/unavailable";
}  // namespace meta_key

namespace extension {
inline constexpr const char* tasks = "io.modelcontextprotocol/tasks";
inline constexpr const char* apps = "io.modelcontextprotocol/ui";
}  // namespace extension

}  // namespace cellblock::mcp
