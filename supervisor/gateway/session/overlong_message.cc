#include "supervisor/gateway/session/overlong_message.h"

#include "policy/mcp/error_codes.h"
#include "supervisor/gateway/message/failures.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/replies.h"

namespace cellblock::gateway {

namespace {

// Which call it answers, only a machine far below knows. `content` is what tools/call answers with
// and nothing else; `resultType` is of the modern era.
std::string failed_answer(std::string_view id, std::string_view result, const Failure& failure) {
  const Json tree = parse_json(result);
  if (member(tree, "content") == nullptr) return error_reply(id, failure);
  const bool is_modern = member(tree, "resultType") != nullptr;
  return tool_error_reply(id, failure, is_modern ? Era::modern : Era::legacy);
}

}  // namespace

Failure message_too_large(std::size_t size, std::size_t limit, std::string_view server) {
  return plain_failure(FailureCode::too_large,
                       "the message has " + std::to_string(size) +
                           " bytes as the host would get it; lines.to_host allows " +
                           std::to_string(limit),
                       server);
}

InsteadOfOverlong instead_of_overlong(std::string_view line, const Message& message,
                                      const Failure& failure) {
  const std::string_view id = message.id.in(line);
  switch (message.kind) {
    case MessageKind::notification:
      return {};
    case MessageKind::request:
      return {.to_host = {},
              .to_peer = protocol_error(id, mcp::invalid_request, "the request is too large")};
    case MessageKind::result:
      return {.to_host = failed_answer(id, message.result.in(line), failure), .to_peer = {}};
    case MessageKind::error:
      return {.to_host = error_reply(id, failure), .to_peer = {}};
  }
  return {};
}

}  // namespace cellblock::gateway
