#include "client/cli/terminal/exit_code.h"

#include "policy/mcp/protocol_words.h"

namespace cellblock::cli {

using client::ErrorCode;

bool is_no_such_tool(const client::Error& error) {
  return error.rpc_code == mcp::invalid_params && error.text.starts_with("Unknown tool: ");
}

Exit exit_for(const client::Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
      return Exit::usage;
    case ErrorCode::unreachable:
    case ErrorCode::no_access:
    case ErrorCode::untrusted_listener:
    case ErrorCode::disconnected:
      return Exit::unreachable;
    case ErrorCode::timed_out:
    case ErrorCode::handshake_timeout:
      return Exit::timed_out;
    case ErrorCode::denied_by_host:
    case ErrorCode::refused:
    case ErrorCode::approval_required:
      return Exit::refused;
    case ErrorCode::rpc:
      return is_no_such_tool(error) ? Exit::refused : Exit::tool_error;
    case ErrorCode::server_failed:
      return Exit::server_failed;
    case ErrorCode::too_many:
    case ErrorCode::unavailable:
      return Exit::busy;
    case ErrorCode::protocol:
    case ErrorCode::too_large:
    case ErrorCode::cancelled:
    case ErrorCode::handler_failed:
    case ErrorCode::in_use:
    case ErrorCode::other_process:
      break;
  }
  return Exit::error;
}

}  // namespace cellblock::cli
