#include <string>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/upstream/upstream.h"

/// What messages hold that may not be handed on as it is: what redaction finds, which is recorded
/// (which detector, how often, never the text), and what is too large outside of answers.
namespace cellblock::gateway {

using wire::AuditKind;
using wire::AuditOutcome;

// False: the message does not pass.
bool Upstream::redact(Direction direction, std::string_view line, const Message& message,
                      std::vector<Replacement>& edits) {
  const bool passes = redaction_.pass(direction, line, message, edits).has_value();
  const bool is_known = mcp::find_method(message.method) != nullptr;
  note_found(redaction_.take_found(), is_known ? std::string_view(message.method) : "", 0,
             passes ? AuditOutcome::ok : AuditOutcome::denied);
  return passes;
}

void Upstream::note_found(const FoundCounts& found, std::string_view tool, std::uint64_t call,
                          AuditOutcome outcome) {
  for (const auto& [name, count] : found) {
    effects_.record({.kind = AuditKind::finding,
                     .outcome = outcome,
                     .tool = tool,
                     .reason = name,
                     .call = call,
                     .count = count});
  }
}

// For the audit log: of what is none of MCP's, what may be said.
std::string Upstream::said_method(const std::string& method) {
  return mcp::find_method(method) != nullptr ? method : redaction_.clean(method);
}

// A cancellation passes in any case, without its words where these may not.
std::vector<Replacement> Upstream::cancel_edits(Direction direction, std::string_view line,
                                                const Message& message, std::string id) {
  std::vector<Replacement> edits{{message.request_id, id}};
  if (redact(direction, line, message, edits)) return edits;
  return {{message.params, R"({"requestId":)" + id + '}'}};
}

void Upstream::tell_held(const TaskStatusBuffer::Held& held, Time now) {
  Message message;
  message.method = held.method;
  message.params = held.params;
  message.task_ids = {held.task};
  std::vector<Replacement> edits;
  if (!values_.hand_out_task(held.line, held.task, now, edits)) return;
  if (!redact(Direction::to_host, held.line, message, edits)) return;
  bound_task(held.line, message, now, edits);
  effects_.to_host(EditedMessage(held.line, std::move(edits)).slices());
}

// What it says of a finished task is the result of the call that made it.
void Upstream::bound_task(std::string_view line, const Message& message, Time now,
                          std::vector<Replacement>& edits) const {
  if (!message.method.starts_with(mcp::notification::tasks)) return;
  const bool is_legacy = message.method == mcp::notification::task_status;
  result_gate_.bound_task({.line = line,
                           .state = message.params,
                           .tool = values_.tool_behind(line, message),
                           .era = is_legacy ? Era::legacy : Era::modern,
                           .now = now},
                          edits);
}

}  // namespace cellblock::gateway
