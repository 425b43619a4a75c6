#include "client/cli/exit_code.h"

#include <fmt/format.h>

#include "policy/mcp/error_codes.h"

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
    case ErrorCode::refused:
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
      break;
  }
  return Exit::error;
}

std::string advice_for(ErrorCode code, const std::string& socket) {
  switch (code) {
    case ErrorCode::unreachable:
      return "Is cellblockd running? Start it, or name its socket with --socket PATH "
             "(or CELLBLOCK_SOCKET).";
    case ErrorCode::no_access:
      return fmt::format("You need to be in the group of that socket: see \"ls -l {}\".", socket);
    case ErrorCode::untrusted_listener:
      return "Nothing was sent. Put the socket where only root, you or the daemon can write.";
    case ErrorCode::disconnected:
      return "The daemon's log says why; try again.";
    case ErrorCode::server_failed:
    case ErrorCode::handshake_timeout:
      return "\"cellblock status NAME\" and \"cellblock logs NAME\" tell more.";
    case ErrorCode::timed_out:
      return "Allow more time with --timeout.";
    case ErrorCode::refused:
      return "\"cellblock status\" lists the servers that you may use.";
    case ErrorCode::too_many:
    case ErrorCode::unavailable:
      return "Try again later.";
    case ErrorCode::invalid_argument:
    case ErrorCode::protocol:
    case ErrorCode::too_large:
    case ErrorCode::cancelled:
    case ErrorCode::rpc:
      break;
  }
  return {};
}

}  // namespace cellblock::cli
