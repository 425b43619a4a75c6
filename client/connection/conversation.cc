#include "client/connection/conversation.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "client/connection/rpc_text.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::client {
namespace {

std::unexpected<Error> refuse(ErrorCode code, std::string text) {
  return std::unexpected(Error{.code = code, .text = std::move(text)});
}

Result<std::string> bounded(std::string line, std::size_t limit) {
  if (line.size() - 1 <= limit) return line;
  return refuse(ErrorCode::too_large,
                fmt::format("the message has {} bytes, {} are allowed", line.size() - 1, limit));
}

// Ids of calls are our own numbers; anything else was never asked here.
std::optional<std::uint64_t> own_id(std::string_view raw) {
  std::uint64_t id = 0;
  const auto [end, fault] = std::from_chars(raw.data(), raw.data() + raw.size(), id);
  if (fault != std::errc() || end != raw.data() + raw.size()) return std::nullopt;
  return id;
}

// `initialize` must not be cancelled (MCP), and the gateway's own requests are answered at once or
// ended by closing the connection.
bool may_be_cancelled(std::string_view method) {
  return method != mcp::method::initialize && !method.starts_with(control_method::prefix);
}

Error error_in(std::string_view line, const Message& message) {
  return read_error(message.error.in(line));
}

}  // namespace

Result<OpenedCall> Conversation::open(std::string_view method, std::string_view params) {
  if (open_.size() >= limits_.calls_in_flight) {
    return refuse(ErrorCode::too_many, fmt::format("{} calls are in flight already", open_.size()));
  }
  const auto object = CELLBLOCK_TRY(one_line_object(params));
  auto line = CELLBLOCK_TRY(
      bounded(request_line(std::to_string(next_id_), method, object), limits_.outgoing_line));
  open_.emplace(next_id_, may_be_cancelled(method) ? Cancellable::yes : Cancellable::no);
  return OpenedCall{.id = next_id_++, .line = std::move(line)};
}

Result<std::string> Conversation::notify(std::string_view method, std::string_view params) const {
  const auto object = CELLBLOCK_TRY(one_line_object(params));
  return bounded(request_line({}, method, object), limits_.outgoing_line);
}

Result<std::string> Conversation::answer(std::string_view id,
                                         const Result<std::string>& result) const {
  if (result) {
    const auto object = CELLBLOCK_TRY(one_line_object(*result));
    return bounded(result_line(id, object), limits_.outgoing_line);
  }
  const auto& error = result.error();
  const int code = error.rpc_code == 0 ? mcp::internal_error : error.rpc_code;
  return bounded(error_line(id, code, error.text), limits_.outgoing_line);
}

Result<Event> Conversation::receive(std::string_view line) {
  auto message = scanner_.scan(line);
  if (!message) {
    if (message.error().fault == MessageFault::empty_line) return Ignored{};
    return refuse(ErrorCode::protocol,
                  fmt::format("the daemon sent a line that is not a JSON-RPC message: {}",
                              explain(message.error().fault)));
  }
  const std::string params(message->params.in(line));
  switch (message->kind) {
    case MessageKind::notification:
      return Notified{std::move(message->method), params};
    case MessageKind::request:
      return Asked{std::string(message->id.in(line)), std::move(message->method), params};
    case MessageKind::result:
    case MessageKind::error:
      break;
  }
  return answered(line, *message);
}

Event Conversation::answered(std::string_view line, const Message& message) {
  if (message.id.empty()) return FailedUnnamed{error_in(line, message)};
  const auto id = own_id(message.id.in(line));
  if (!id || open_.erase(*id) == 0) return Ignored{};
  if (message.kind == MessageKind::error) {
    return Answered{*id, std::unexpected(error_in(line, message))};
  }
  return Answered{*id, std::string(message.result.in(line))};
}

std::optional<Event> Conversation::skipped(const LongLine& line) {
  const auto id = line.id();
  Error why{.code = ErrorCode::too_large,
            .text = fmt::format("the message has more than {} bytes", limits_.incoming_line)};
  // A notification that nobody reads is one that nobody has.
  if (line.has_method()) return id.empty() ? Event(Ignored{}) : Event(Refused{id, std::move(why)});
  const auto call = own_id(id);
  if (!call) return std::nullopt;
  if (open_.erase(*call) == 0) return Ignored{};
  return Answered{*call, std::unexpected(std::move(why))};
}

std::optional<std::string> Conversation::give_up(std::uint64_t id, std::string_view reason) {
  const auto call = open_.find(id);
  if (call == open_.end()) return std::nullopt;
  const bool tell = call->second == Cancellable::yes;
  open_.erase(call);
  if (!tell) return std::nullopt;
  return request_line({}, mcp::notification::cancelled,
                      fmt::format(R"({{"requestId":{},"reason":{}}})", id, json_string(reason)));
}

std::vector<std::uint64_t> Conversation::give_up_all() {
  std::vector<std::uint64_t> ids;
  ids.reserve(open_.size());
  for (const auto& [id, cancellable] : open_) ids.push_back(id);
  open_.clear();
  return ids;
}

}  // namespace cellblock::client
