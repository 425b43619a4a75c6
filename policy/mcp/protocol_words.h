#pragma once

#include <algorithm>
#include <array>
#include <string_view>

/// Words of MCP besides its methods: codes of errors, names in `_meta`, revisions.
namespace cellblock::mcp {

// Codes of errors that JSON-RPC and MCP give a meaning. cellblock's own are in
// policy/failures/failure.h.

inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;

/// Legacy only: a modern server may send neither.
inline constexpr int legacy_not_found = -32002;
inline constexpr int url_elicitation_required = -32042;

/// Modern only.
inline constexpr int header_mismatch = -32020;  ///< HTTP only
inline constexpr int missing_client_capability = -32021;
inline constexpr int unsupported_version = -32022;

/// The modern era keeps these for itself.
inline constexpr int first_reserved = -32099;
inline constexpr int last_reserved = -32020;

// Names in `_meta`: those that MCP reserves, those of known extensions, and cellblock's own. Trace
// context, progress tokens and vendors' names are none of them.

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
inline constexpr const char* marked = "cellblock/marked";
inline constexpr const char* unavailable = "cellblock/unavailable";
}  // namespace meta_key

namespace extension {
inline constexpr const char* tasks = "io.modelcontextprotocol/tasks";
inline constexpr const char* apps = "io.modelcontextprotocol/ui";
}  // namespace extension

// Revisions of MCP. Their names are dates, so they compare as texts.

inline constexpr std::string_view first_with_audio = "2025-03-26";
inline constexpr std::string_view first_with_links = "2025-06-18";
inline constexpr std::string_view newest_legacy = "2025-11-25";
inline constexpr std::string_view modern_revision = "2026-07-28";

/// Oldest first.
inline constexpr std::array<std::string_view, 4> legacy_revisions{"2024-11-05", first_with_audio,
                                                                  first_with_links, newest_legacy};
/// Before the first release; servers that name it speak what that one became.
inline constexpr std::string_view before_release = "2024-10-07";

constexpr bool is_legacy_revision(std::string_view version) {
  return std::ranges::find(legacy_revisions, version) != legacy_revisions.end();
}

}  // namespace cellblock::mcp
