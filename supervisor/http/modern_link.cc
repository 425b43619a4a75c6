#include "supervisor/http/modern_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "policy/jsonrpc/message_edit.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/http_connection/http_context.h"

namespace cellblock::http {
namespace {

constexpr std::size_t most_waiting_messages = 1024;
constexpr std::size_t longest_modern_error = 1U << 20;

std::string without_newline(EditedMessage edited) {
  std::string text = edited.flatten();
  text.pop_back();
  return text;
}

void replace(std::vector<Replacement>& edits, Span where, std::string text) {
  if (!where.empty()) edits.push_back({where, std::move(text)});
}

bool wants_log(std::string_view params) {
  return params.find(fmt::format(R"("{}")", mcp::meta_key::log_level)) != std::string_view::npos;
}

std::string cancellation(std::uint64_t number, std::string_view version) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","method":"{}","params":{{"requestId":{},"_meta":{{"{}":{},"{}":{{}}}}}}}})"
      "\n",
      mcp::notification::cancelled, number, mcp::meta_key::version, version,
      mcp::meta_key::capabilities);
}

}  // namespace

unsigned status_of_error(std::string_view error) {
  if (error.size() > longest_modern_error) return 200;
  const auto tree = nlohmann::json::parse(error, nullptr, /*allow_exceptions=*/false);
  if (!tree.is_object() || !tree.contains("code") || !tree["code"].is_number_integer()) return 200;
  switch (tree["code"].get<std::int64_t>()) {
    case mcp::method_not_found:
      return 404;
    case mcp::header_mismatch:
    case mcp::missing_client_capability:
    case mcp::unsupported_version:
      return 400;
    default:
      return 200;
  }
}

void ModernLink::post(ExchangeId exchange, std::string_view line, const Message& message,
                      const std::vector<Header>& headers, Time now) {
  heard_at_ = now;
  const std::uint64_t number = next_++;
  Waiting waiting{Answer(around_, exchange, headers), std::string(message.id.in(line)),
                  std::string(message.meta_progress_token.in(line)),
                  std::string(message.protocol_version.in(line)),
                  wants_log(message.params.in(line))};
  std::vector<Replacement> edits;
  replace(edits, message.id, std::to_string(number));
  replace(edits, message.meta_progress_token, std::to_string(number));
  const EditedMessage edited(line, std::move(edits));
  if (waiting_.size() >= most_waiting_messages || !link_.send(edited.slices())) {
    return around_.reply(exchange, error_page(503, waiting.id, too_many_code,
                                              "Too many requests wait for this server"));
  }
  waiting_.emplace(number, std::move(waiting));
}

void ModernLink::exchange_closed(ExchangeId exchange) {
  const auto found = std::ranges::find_if(
      waiting_, [&](const auto& entry) { return entry.second.answer.exchange() == exchange; });
  if (found == waiting_.end()) return;
  const std::string line = cancellation(found->first, found->second.version);
  const std::array<std::string_view, 1> slices{line};
  link_.send(slices);
  waiting_.erase(found);
}

ModernLink::Fate ModernLink::hear(std::string_view line, const Message& message) {
  switch (link_.hear(line, message)) {
    case Link::ReadResult::nothing:
      return Fate::goes_on;
    case Link::ReadResult::refused:
      return Fate::over;
    case Link::ReadResult::message:
      break;
  }
  // A request of a server has no place in this revision.
  if (message.kind == MessageKind::request) return Fate::goes_on;
  if (message.kind == MessageKind::notification) {
    pass(line, message);
  } else {
    respond(line, message);
  }
  return Fate::goes_on;
}

ModernLink::Table::iterator ModernLink::find(std::string_view number) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size()) return waiting_.end();
  return waiting_.find(value);
}

void ModernLink::respond(std::string_view line, const Message& message) {
  const auto found = find(message.id.in(line));
  if (found == waiting_.end()) return;
  Waiting waiting = std::move(found->second);
  waiting_.erase(found);
  std::vector<Replacement> edits;
  replace(edits, message.id, waiting.id);
  replace(edits, message.subscription_id, waiting.id);
  const bool failed = message.kind == MessageKind::error;
  const unsigned status = failed ? status_of_error(message.error.in(line)) : 200;
  waiting.answer.finish(without_newline({line, std::move(edits)}), status);
}

void ModernLink::pass(std::string_view line, const Message& message) {
  if (message.method == mcp::notification::progress) return pass_progress(line, message);
  if (message.method == mcp::notification::log_message) return pass_log(line);
  if (message.method == mcp::notification::cancelled)
    return end_stream(message.request_id.in(line));
  if (message.subscription_id.empty()) return;
  const auto found = find(message.subscription_id.in(line));
  if (found == waiting_.end()) return;
  found->second.answer.push(without_newline({line, {{message.subscription_id, found->second.id}}}));
}

void ModernLink::pass_progress(std::string_view line, const Message& message) {
  const auto found = find(message.progress_token.in(line));
  if (found == waiting_.end() || found->second.progress_token.empty()) return;
  found->second.answer.push(
      without_newline({line, {{message.progress_token, found->second.progress_token}}}));
}

// A log message names no request: where two could have caused it, none is given it.
void ModernLink::pass_log(std::string_view line) {
  Waiting* owner = nullptr;
  for (auto& [number, waiting] : waiting_) {
    if (!waiting.wants_log) continue;
    if (owner != nullptr) return;
    owner = &waiting;
  }
  if (owner != nullptr) owner->answer.push(line);
}

void ModernLink::end_stream(std::string_view number) {
  const auto found = find(number);
  if (found == waiting_.end()) return;
  found->second.answer.end();
  waiting_.erase(found);
}

void ModernLink::end(std::string_view error) {
  link_.close();
  for (auto& [number, waiting] : std::exchange(waiting_, {})) {
    waiting.answer.finish(error_line(waiting.id, error), status_of_end(error));
  }
}

void ModernLink::keep_alive() {
  for (auto& [number, waiting] : waiting_) waiting.answer.keep_alive();
}

bool ModernLink::is_idle(Time now, Time longest) const {
  return waiting_.empty() && now - heard_at_ > longest;
}

}  // namespace cellblock::http
