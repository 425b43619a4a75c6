#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The stable codes of cellblock's own failures. Whoever refuses with a code and a sentence alone
/// needs nothing else of failure.h, and no JSON library.
namespace cellblock {

/// The table in docs/errors.md is held to this list by a test.
enum class FailureCode : std::uint8_t {
  not_allowlisted,    ///< unknown server, or one that this user may not use: the same answer
  not_attached,       ///< an MCP message before cellblock/attach
  server_failed,      ///< the cell could not start, crashed, or was stopped
  handshake_timeout,  ///< alive but did not answer in time
  too_large,          ///< a line over its bound
  too_many,           ///< connections, cells, or calls in flight
  audit_unavailable,
  disabled,
  invalid_request,
  shutting_down,
  bad_answer,           ///< the server answered with something that is not valid JSON-RPC
  workspace_refused,    ///< no directory, or none that the server's workspace.allow names
  identity_not_mapped,  ///< run_as = "client" has no id for this user
  denied,               ///< a rule, with these arguments; or a role that is not this user's
  approval_required,    ///< a rule asks for an approval, which was denied or did not come
  invalid_arguments,    ///< not what the tool's inputSchema says
  timeout,              ///< the call's time is over; the server was told to stop
  rate_limited,         ///< too many calls in a time, or at a time: says when to try again
  quarantined,          ///< a new or changed definition that was not accepted
  blocked,              ///< holds what may not pass in this direction
};

inline constexpr std::uint8_t failure_code_count =
    static_cast<std::uint8_t>(FailureCode::blocked) + 1;

std::string_view name_of(FailureCode code);  ///< "not_allowlisted"
/// What to do about it, for a person or a model; the table in docs/errors.md has the same.
std::string_view advice_for(FailureCode code);
/// JSON-RPC error code: -31001 ... in the order above (outside the range JSON-RPC reserves).
int error_code_of(FailureCode code);

/// A JSON-RPC error response without an id, of a failure that has no further facts.
std::string plain_error_reply(FailureCode code, std::string_view sentence);

}  // namespace cellblock
