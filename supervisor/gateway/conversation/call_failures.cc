#include "supervisor/gateway/conversation/call_failures.h"

#include "supervisor/gateway/conversation/sealer.h"
#include "supervisor/gateway/message/failures.h"

namespace cellblock::gateway {

namespace {
constexpr std::size_t max_named_method = 128;
}

Failure forbidden_input_failure(const Server& server, const std::string& method) {
  // The server chose it, and the whole of it may not fit into lines.to_host.
  const std::string what =
      method.empty() ? "something that is no request" : method.substr(0, max_named_method);
  return plain_failure(FailureCode::bad_answer,
                       "server " + server.name + " asked the client for " + what +
                           ", which client_features does not allow",
                       server.name);
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
