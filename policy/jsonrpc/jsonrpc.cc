#include "policy/jsonrpc/jsonrpc.h"

#include <fmt/format.h>

#include <utility>

#include "policy/json/json_values.h"
#include "policy/jsonrpc/jsonrpc_walk.h"
#include "policy/mcp/foreign_framing.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool is_present(const Found& found) { return found.type != JsonType::absent; }

bool is_absent_or(const Found& found, JsonType type) {
  return !is_present(found) || found.type == type;
}

bool is_legal_id(const Found& id, std::string_view line) {
  const std::string_view raw = id.where.in(line);
  if (id.type == JsonType::string) return raw.size() <= max_id_length;
  return id.type == JsonType::number && is_exact_integer(raw);
}

bool is_error_object(const Sightings& seen) {
  return seen.error.type == JsonType::object && seen.error_code.type == JsonType::number &&
         seen.error_message.type == JsonType::string;
}

// What answers to it are marked with is kept for as long as the call lasts, as its id is.
bool is_legal_token(const Found& token, std::string_view line) {
  return token.where.in(line).size() <= max_id_length;
}

struct Judgement {
  MessageFault fault{};
  std::string_view reason;
};

using Judged = std::expected<MessageKind, Judgement>;

std::unexpected<Judgement> not_jsonrpc(std::string_view reason) {
  return std::unexpected(Judgement{MessageFault::not_jsonrpc, reason});
}

Judged judge_call(const Sightings& seen) {
  if (is_present(seen.result) || is_present(seen.error)) {
    return not_jsonrpc("method together with result or error");
  }
  if (seen.method.type != JsonType::string) return not_jsonrpc("method is not a string");
  if (!is_absent_or(seen.params, JsonType::object)) {
    return std::unexpected(Judgement{MessageFault::bad_params, "params is not an object"});
  }
  return is_present(seen.id) ? MessageKind::request : MessageKind::notification;
}

Judged judge_response(const Sightings& seen) {
  if (is_present(seen.params)) return not_jsonrpc("params without method");
  if (is_present(seen.result) && is_present(seen.error)) {
    return not_jsonrpc("both result and error");
  }
  if (is_present(seen.error)) {
    if (!is_error_object(seen)) return not_jsonrpc("error has no numeric code or no message");
    return MessageKind::error;
  }
  if (!is_present(seen.result)) return not_jsonrpc("neither method nor result nor error");
  if (!is_present(seen.id)) return not_jsonrpc("result without id");
  return MessageKind::result;
}

Judged judge(const Sightings& seen, std::string_view line) {
  if (is_present(seen.id) && !is_legal_id(seen.id, line)) {
    return std::unexpected(Judgement{MessageFault::bad_id, "id"});
  }
  if (!is_legal_token(seen.progress_token, line) ||
      !is_legal_token(seen.meta_progress_token, line)) {
    return not_jsonrpc("progressToken has more than 1024 bytes");
  }
  if (seen.jsonrpc.type != JsonType::string || seen.jsonrpc.text != "2.0") {
    return not_jsonrpc("jsonrpc is not \"2.0\"");
  }
  if (seen.foreign_member) return not_jsonrpc("a member that JSON-RPC does not know");
  return is_present(seen.method) ? judge_call(seen) : judge_response(seen);
}

Span span_if(const Found& found, JsonType type) {
  return found.type == type ? found.where : Span{};
}

Message message_of(MessageKind kind, Sightings& seen) {
  Message message;
  message.kind = kind;
  message.id = seen.id.where;
  message.method = seen.method.text;
  message.params = seen.params.where;
  message.result = seen.result.where;
  message.error = seen.error.where;
  message.name = span_if(seen.name, JsonType::string);
  message.name_text = seen.name.text;
  message.arguments = seen.arguments.where;
  message.uri = span_if(seen.uri, JsonType::string);
  message.request_id = seen.request_id.where;
  message.progress = span_if(seen.progress, JsonType::number);
  message.progress_token = seen.progress_token.where;
  message.meta_progress_token = seen.meta_progress_token.where;
  message.traceparent = seen.traceparent.where;
  message.protocol_version = seen.protocol_version.where;
  message.client_capabilities = span_if(seen.client_capabilities, JsonType::object);
  message.capabilities = span_if(seen.capabilities, JsonType::object);
  message.subscription_id = is_present(seen.params_subscription_id)
                                ? seen.params_subscription_id.where
                                : seen.result_subscription_id.where;
  message.cursor = seen.cursor.where;
  message.next_cursor = seen.next_cursor.where;
  message.request_state = seen.request_state.where;
  message.level = seen.level.where;
  message.task_ids = std::move(seen.task_ids);
  message.tools = std::move(seen.tools);
  message.input_methods = std::move(seen.input_methods);
  if (!is_absent_or(seen.input_requests, JsonType::object)) message.input_methods.emplace_back();
  message.questions = std::move(seen.questions);
  if (is_question(message.method, seen.question)) message.questions.push_back(seen.question.where);
  return message;
}

Refused refused(const WalkFault& fault) {
  // Whoever tells it says what the fault is, and the detail behind it.
  const bool is_more = fault.reason != explain(fault.fault);
  return {
      fault.fault,
      fmt::format("byte {}{}{}", fault.offset, is_more ? ": " : "", is_more ? fault.reason : ""),
      {}};
}

Refused refused(const Judgement& judgement, const Sightings& seen) {
  const bool id_is_known = judgement.fault != MessageFault::bad_id;
  return {judgement.fault, std::string{judgement.reason}, id_is_known ? seen.id.where : Span{}};
}

std::expected<Message, Refused> scan_with(MessageWalk& walk, std::string_view line) {
  if (!walk.walk(line)) return std::unexpected(refused(walk.fault()));
  Sightings& seen = walk.sightings();
  const Judged kind = judge(seen, line);
  if (!kind) return std::unexpected(refused(kind.error(), seen));
  return message_of(*kind, seen);
}

}  // namespace

struct MessageScanner::Impl {
  MessageWalk walk;
};

MessageScanner::MessageScanner() : impl_(std::make_unique<Impl>()) {}
MessageScanner::~MessageScanner() = default;
MessageScanner::MessageScanner(MessageScanner&&) noexcept = default;
MessageScanner& MessageScanner::operator=(MessageScanner&&) noexcept = default;

std::expected<Message, Refused> MessageScanner::scan(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (is_blank(line)) return std::unexpected(Refused{MessageFault::empty_line, "", {}});
  // White space to JSON, but the end of a line to readers with "universal newlines" (Python's text
  // files, Java's readLine): they would take the rest for a message of its own, which nobody
  // judged.
  if (line.find('\r') != std::string_view::npos) {
    return std::unexpected(
        Refused{MessageFault::not_json, "a carriage return inside the line", {}});
  }
  auto scanned = scan_with(impl_->walk, line);
  if (!scanned && line.starts_with(utf8_byte_order_mark)) {
    scanned.error().detail = "a byte order mark";
  }
  impl_->walk.release();
  return scanned;
}

std::string_view explain(MessageFault fault) {
  switch (fault) {
    case MessageFault::not_json:
      return "not one line of valid JSON";
    case MessageFault::too_deep:
      return "nested too deeply";
    case MessageFault::duplicate_key:
      return "an object has the same key twice";
    case MessageFault::not_an_object:
      return "not a JSON object (a batch is not accepted)";
    case MessageFault::not_jsonrpc:
      return "not a JSON-RPC 2.0 message";
    case MessageFault::bad_id:
      return "the id is neither a string of up to 1024 bytes nor an integer below 2^53";
    case MessageFault::bad_params:
      return "params is not an object";
    case MessageFault::empty_line:
      return "an empty line";
  }
  return "";
}

int error_code_of(MessageFault fault) {
  return fault == MessageFault::not_json ? mcp::parse_error : mcp::invalid_request;
}

}  // namespace cellblock
