#pragma once

#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/error_codes.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

/// The result or the error of an answer, as a tree.
struct AnswerBody {
  bool worked() const { return kind == MessageKind::result; }

  MessageKind kind = MessageKind::error;
  Json json;
  std::size_t bytes = 0;
};

/// An answer that is no object becomes an error: its call must end.
inline AnswerBody body_of(std::string_view line, const Message& message) {
  const Span where = message.kind == MessageKind::result ? message.result : message.error;
  Json json = parse_json(where.in(line));
  if (json.is_object()) return {message.kind, std::move(json), where.end - where.begin};
  return {.json = error_of(mcp::internal_error, "the server's answer is no object")};
}

}  // namespace cellblock::gateway
