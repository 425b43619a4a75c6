#pragma once

#include <string_view>

/// What cellblock's socket understands beside MCP. The parameters: docs/protocol.md.
namespace cellblock::control_method {

inline constexpr std::string_view prefix = "cellblock/";
inline constexpr std::string_view attach = "cellblock/attach";
inline constexpr std::string_view status = "cellblock/status";
inline constexpr std::string_view logs = "cellblock/logs";
inline constexpr std::string_view stop = "cellblock/stop";
inline constexpr std::string_view restart = "cellblock/restart";
inline constexpr std::string_view pins = "cellblock/pins";
inline constexpr std::string_view pin_accept = "cellblock/pin_accept";
inline constexpr std::string_view pin_forget = "cellblock/pin_forget";
inline constexpr std::string_view approvals = "cellblock/approvals";
inline constexpr std::string_view approve = "cellblock/approve";
inline constexpr std::string_view approve_next = "cellblock/approve_next";
inline constexpr std::string_view home = "cellblock/home";
/// A notification: the session is over.
inline constexpr std::string_view ended = "cellblock/ended";

}  // namespace cellblock::control_method
