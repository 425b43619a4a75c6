#include "cellblock/error.h"

namespace cellblock::client {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::unreachable:
      return "unreachable";
    case ErrorCode::no_access:
      return "no_access";
    case ErrorCode::untrusted_listener:
      return "untrusted_listener";
    case ErrorCode::disconnected:
      return "disconnected";
    case ErrorCode::protocol:
      return "protocol";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::too_many:
      return "too_many";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::denied_by_host:
      return "denied_by_host";
    case ErrorCode::approval_required:
      return "approval_required";
    case ErrorCode::refused:
      return "refused";
    case ErrorCode::server_failed:
      return "server_failed";
    case ErrorCode::handshake_timeout:
      return "handshake_timeout";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::rpc:
      return "rpc";
    case ErrorCode::handler_failed:
      return "handler_failed";
    case ErrorCode::in_use:
      return "in_use";
    case ErrorCode::other_process:
      return "other_process";
  }
  return "unknown";
}

}  // namespace cellblock::client
