#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/http_connection/request.h"

/// What MCP's Streamable HTTP demands of one request, of either era. Pure.
namespace cellblock::http {

/// `/mcp` (empty: everything at once) or `/mcp/NAME`; a query is ignored.
std::optional<std::string> server_of_target(std::string_view target);

/// Checks the headers alone: verb, path, and for POST the type and `Accept`. No value: nothing is
/// wrong.
std::optional<Reply> refuse_head(const Request& request);

enum class HttpEra : std::uint8_t { legacy, modern };
HttpEra era_of(const Request& request, const Message& message);

/// Checks a modern request: the reserved `_meta`, and headers that repeat the body.
std::optional<Reply> refuse_modern(const Request& request, std::string_view line,
                                   const Message& message);

/// Checks a legacy request: a known protocol version.
std::optional<Reply> refuse_version(const Request& request, std::string_view id);

/// `value` of Mcp-Name, decoded if it is encoded; nothing: it is not well-formed.
std::optional<std::string> decoded_header(std::string_view value);

}  // namespace cellblock::http
