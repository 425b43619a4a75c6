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

/// By the headers alone: verb, path, and for POST type and `Accept`. Nothing is wrong: no reply.
std::optional<Reply> refuse_head(const Request& request);

enum class HttpEra : std::uint8_t { legacy, modern };
HttpEra era_of(const Request& request, const Message& message);

/// Of a modern request: the reserved `_meta`, and headers that say what the body says.
std::optional<Reply> refuse_modern(const Request& request, std::string_view line,
                                   const Message& message);

/// Of a legacy one: a protocol version that there is.
std::optional<Reply> refuse_version(const Request& request, std::string_view id);

/// `value` of Mcp-Name, decoded if it is encoded; nothing: it is not well-formed.
std::optional<std::string> decoded_header(std::string_view value);

}  // namespace cellblock::http
