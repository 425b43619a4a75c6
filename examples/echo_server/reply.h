#pragma once

#include <string>
#include <string_view>

/// What the echo server says to one line. A pure function of the line, so that a benchmark measures
/// the way to the server and not the server.
namespace echo_server {

/// The largest text that `payload` makes, in bytes.
inline constexpr unsigned long max_payload = 64UL << 20;

/// Appends the reply to `line`, newline included, to `out`; appends nothing for a notification.
///
/// Both eras of MCP: `initialize` (2025-11-25 and before) and `server/discover` with `_meta` in
/// each request (2026-07-28). Tools: `echo {text}` and `payload {bytes}`.
void append_reply(std::string_view line, std::string& out);

}  // namespace echo_server
