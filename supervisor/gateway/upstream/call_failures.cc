#include "supervisor/gateway/upstream/call_failures.h"

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/sealer.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

Failure forbidden_input_failure(const Server& server, const std::string& method) {
  // What is none of MCP's is the server's own text, and a model reads this.
  const bool is_known = mcp::find_method(method) != nullptr;
  const std::string what = is_known         ? method
                           : method.empty() ? "something that is no request"
                                            : "something that MCP does not have";
  return plain_failure(FailureCode::bad_answer,
                       "server " + server.name + " asked the client for " + what +
                           ", which client_features does not allow",
                       server.name);
}

Failure audit_failure(const Server& server) {
  return plain_failure(FailureCode::audit_unavailable,
                       "the audit log cannot be written, so nothing new is called", server.name);
}

Failure too_many_calls(const Server& server, std::size_t most) {
  return plain_failure(FailureCode::too_many,
                       "more than " + std::to_string(most) + " calls in flight", server.name);
}

Failure answer_too_large(const Server& server, std::size_t size) {
  return plain_failure(FailureCode::too_large,
                       "the answer has " + std::to_string(size) + " bytes; lines.to_host allows " +
                           std::to_string(server.lines.to_host),
                       server.name);
}

Failure answer_not_sealed(const Server& server) {
  return plain_failure(FailureCode::too_large,
                       "the answer has a cursor, requestState or taskId of more than " +
                           std::to_string(Sealer::max_payload) + " bytes",
                       server.name);
}

Failure answer_not_editable(const Server& server) {
  return plain_failure(FailureCode::bad_answer,
                       "the answer names things where an answer of its kind has none", server.name);
}

}  // namespace cellblock::gateway
