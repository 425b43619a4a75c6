#pragma once

/// The numbers of errors that JSON-RPC and MCP give a meaning. cellblock's own are in
/// policy/failures/failure.h.
namespace cellblock::mcp {

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

}  // namespace cellblock::mcp
