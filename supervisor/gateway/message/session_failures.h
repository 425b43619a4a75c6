#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/host_peer.h"

/// What a session answers when it is not the cell that ended. `server` is null before an attach.
namespace cellblock::gateway {

/// A failure that is not the end of a cell.
inline Failure plain_failure(FailureCode code, std::string message, std::string_view server = {}) {
  Failure failure;
  failure.code = code;
  failure.message = std::move(message);
  failure.server = server;
  return failure;
}

Failure not_allowlisted(const std::string& server);
/// The server's declaration is broken.
Failure left_out(const Server& server);
/// Unknown and not this user's: one answer.
Failure role_refused(const std::string& role);
Failure only_admins_decide();
Failure only_admins_approve();
/// On an administrators' socket.
Failure no_servers_here();
Failure line_too_large(std::size_t seen, std::uint64_t limit, const Server* server);
struct HostGivenUp {
  std::string_view reason;  ///< of the audit record
  Failure failure;
};
HostGivenUp host_given_up(HostPatience::Verdict why, const Listen& listen, const Server* server);
Failure bad_answer(const Refused& refused, const Server* server);
/// The declared `era` of a server is not what it speaks. `code`: of its error, printable.
Failure declared_era_refused(const Server& server, std::string_view method, std::string_view code);
/// What a bridge wrote that is no message any more. `server`: empty for all of them together.
Failure unreadable_between_eras(const Refused& refused, std::string_view server);
/// The audit record of a refused message. It names no call, since the call is not known.
AuditNote note_of_refused(const Failure& failure);
Failure replaced_by_declaration(const Server& server);
Failure stopped_idle(const Server& server);
Failure restarted_by_user(const Server& server);
/// The session came through an administrators' socket, and its user is no administrator any more.
Failure no_admin_any_more();
Failure token_revoked();
/// The server is no longer declared.
Failure removed(const Server& server);
Failure stopped_by_user(const Server* server);
Failure shutting_down(const Server* server);
/// At another gateway.
Failure cannot_go_on(const Server* server, const std::string& why);

/// Whether a line of a server that did not validate may have been the answer to a call.
bool may_be_an_answer(std::string_view line, MessageFault fault);

}  // namespace cellblock::gateway
