#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cellblock/export.h"
#include "cellblock/result.h"

/// @file
/// Errors of libcellblock-client, as values: no function of the library throws, except for
/// std::bad_alloc.

/// The client library in C++.
namespace cellblock::client {

/// What went wrong, for programs. name_of() is its name, docs/errors.md tells more of what
/// cellblock answers.
enum class ErrorCode : std::uint8_t {
  // Before the first byte is exchanged.
  invalid_argument,    ///< the caller's own: no such path, arguments that are not a JSON object
  unreachable,         ///< no process listens on the socket
  no_access,           ///< the socket is there but not for this user
  untrusted_listener,  ///< another user could have put the socket there: nothing was sent
  // Errors of the connection.
  disconnected,  ///< the other side closed it; also every call after that
  protocol,      ///< the other side sent what is not JSON-RPC; the connection was closed
  too_large,     ///< a message over its bound, in either direction
  too_many,      ///< calls in flight, connections or cells over their bound: try again later
  // Errors of one call.
  timed_out,  ///< the caller's deadline passed; the server was told to stop
  cancelled,  ///< by the caller
  // Errors of the host program itself (permission.h): nothing was sent.
  denied_by_host,  ///< its rules, its permission handler, or the person asked for approval
  // What cellblock answered (docs/errors.md); `failure` has its code.
  refused,            ///< not_allowlisted, denied, disabled, quarantined, invalid_arguments, ...
  approval_required,  ///< a rule of the administrator asks for an approval that is not there
  server_failed,      ///< the server could not start, crashed or was stopped
  handshake_timeout,  ///< the server runs but never answered
  unavailable,        ///< the daemon is stopping or cannot write its audit log: try again later
  // What the server answered.
  rpc,  ///< a JSON-RPC error of the server's own: rpc_code, text, data
  // Errors of the host's code around the library.
  handler_failed,  ///< one of its handlers threw; `text` says which, and what
  in_use,          ///< the Client is in a call already: of a handler, or of another thread
  other_process,   ///< the connection was made before fork(), and belongs to the parent
};

/// "timed_out": stable, for programs and logs.
CELLBLOCK_CLIENT_API std::string_view name_of(ErrorCode code);

/// What went wrong, for a person and for a program.
struct Error {
  ErrorCode code{};  ///< for programs
  /// One sentence. Text of the library or of cellblock is one line; text of a server is not
  /// escaped.
  std::string text = {};
  int rpc_code = 0;       ///< JSON-RPC `error.code`, or 0
  std::string data = {};  ///< JSON-RPC `error.data` as JSON text, or empty
  /// Cellblock's stable code of the failure ("rate_limited"), or empty: not cellblock's.
  std::string failure = {};
  std::string advice = {};  ///< what to do about it, or empty: cellblock does not say

  /// All members are the same.
  bool operator==(const Error&) const = default;
};

/// A value, or why there is none.
template <class T>
using Result = Expected<T, Error>;

}  // namespace cellblock::client
