#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/message/audit_note.h"

/// Whether a host's request may go on to the server. A tool that a user may not use does not exist
/// for that user: the answer is the one for an unknown name.
namespace cellblock::gateway {

/// Why something that exists for this person may not be used so, in words that a model can act on:
/// `denied`, or `approval_required`.
Failure denial(const AccessVerdict& verdict, const Server& server);

/// Tool calls get a result that the model sees, other calls an error.
std::string denied_reply(std::string_view id, AccessKind kind, Era era, const Failure& failure);

struct CallAccess {
  std::string_view rule;       ///< which one decided, for the audit log
  std::string refusal;         ///< a whole message, without its newline; empty: it may go on
  std::string named;           ///< what is refused, or asked about
  const Rule* asks = nullptr;  ///< the request may go on after an approval
  /// What is done because it could carry away what was read; off: it could not.
  FlowEffect flow = FlowEffect::off;
};

/// `defaults`: of the arguments of the tool that is called; null: not known.
CallAccess access_of(std::string_view line, const Message& message, const Rights& rights,
                     const Server& server, const Arguments* defaults = nullptr);

/// What is recorded of a request that was refused so. Its texts are those of its arguments.
AuditNote note_of_denied(std::string_view line, const Message& message, const CallAccess& access);

/// Whether a notification of the server's names a resource that does not exist for this person.
bool names_hidden(std::string_view line, const Message& message, const Rights& rights);

/// The rights at a probe's cell, for any user: one tool of cellblock's own.
const Rights& probe_rights();

// Answers for what does not exist. `id` is raw JSON.

std::string unknown_tool(std::string_view id, const std::string& name);
std::string unknown_prompt(std::string_view id, const std::string& name);
std::string unknown_reference(std::string_view id, const std::string& name);
std::string unknown_resource(std::string_view id, const std::string& uri, Era era);

}  // namespace cellblock::gateway
