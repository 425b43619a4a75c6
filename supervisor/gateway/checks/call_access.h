#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/message/audit_note.h"

/// Whether a host's request may go on to the server. What a person may not use does not exist for
/// that person: the answer is the one for a name that nobody has.
namespace cellblock::gateway {

/// Why something that exists for this person may not be used so, in words that a model can act on:
/// `denied`, or `approval_required`.
Failure denial(const AccessVerdict& verdict, const Server& server);

/// Of a tool as a result that the model sees, of the rest as an error.
std::string denied_reply(std::string_view id, AccessKind kind, Era era, const Failure& failure);

struct CallAccess {
  std::string_view rule;       ///< which one decided, for the audit log
  std::string refusal;         ///< a whole message, without its newline; empty: it may go on
  std::string named;           ///< what is refused, or asked about
  const Rule* asks = nullptr;  ///< it may go on when somebody has approved it
  /// What is done because it could carry away what was read; off: it could not.
  FlowEffect flow = FlowEffect::off;
  std::string_view flow_rule{};  ///< which rule says so
};

/// `defaults`: of the arguments of the tool that is called; null: not known.
CallAccess access_of(std::string_view line, const Message& message, const Rights& rights,
                     const Server& server, const Arguments* defaults = nullptr);

/// What is recorded of a request that was refused so. Its texts are those of its arguments.
AuditNote note_of_denied(std::string_view line, const Message& message, const CallAccess& access);

/// Whether a notification of the server's names a resource that does not exist for this person.
bool names_hidden(std::string_view line, const Message& message, const Rights& rights);

/// What a probe's cell offers, whoever attaches to it: one tool of ours.
const Rights& probe_rights();

// Answers for what does not exist. `id` is raw JSON.

std::string unknown_tool(std::string_view id, const std::string& name);
std::string unknown_prompt(std::string_view id, const std::string& name);
std::string unknown_reference(std::string_view id, const std::string& name);
std::string unknown_resource(std::string_view id, const std::string& uri, Era era);

}  // namespace cellblock::gateway
