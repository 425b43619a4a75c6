#include "supervisor/http/legacy_session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/http_connection/http_context.h"

namespace cellblock::http {
namespace {

constexpr std::size_t most_waiting = 256;
constexpr std::size_t most_parked = 64;
constexpr std::size_t most_parked_bytes = 1U << 20;

bool send_line(Link& link, std::string_view line) {
  const std::array<std::string_view, 2> slices{line, "\n"};
  return link.send(slices);
}

bool is_about_changes(const Message& message) {
  return message.kind == MessageKind::notification &&
         (message.method.ends_with("/list_changed") ||
          message.method == mcp::notification::resource_updated);
}

Reply busy(std::string_view id) {
  return error_page(503, id, too_many_code, "Too many requests wait in this session");
}

}  // namespace

void LegacySession::post(ExchangeId exchange, std::string_view line, const Message& message,
                         const std::vector<Header>& headers, Time now) {
  heard_at_ = now;
  if (message.kind == MessageKind::request) return ask(exchange, line, message, headers);
  if (!send_line(link_, line)) return around_.reply(exchange, busy({}));
  if (message.method == mcp::notification::cancelled) cancel(message.request_id.in(line));
  around_.reply(exchange, {202, headers, {}});
}

void LegacySession::ask(ExchangeId exchange, std::string_view line, const Message& message,
                        const std::vector<Header>& headers) {
  const std::string id(message.id.in(line));
  if (waiting_.contains(id)) {
    return around_.reply(exchange, error_page(400, id, mcp::invalid_request,
                                              "A request with this id is still being answered"));
  }
  if (waiting_.size() >= most_waiting || !send_line(link_, line)) {
    return around_.reply(exchange, busy(id));
  }
  Waiting waiting{Answer(around_, exchange, headers),
                  std::string(message.meta_progress_token.in(line)), next_order_++,
                  message.method == mcp::method::initialize};
  waiting_.emplace(id, std::move(waiting));
}

// A request that was cancelled need not be answered, and most servers do not. What comes all the
// same finds nobody.
void LegacySession::cancel(std::string_view id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end() || found->second.initializes) return;
  if (found->second.answer) found->second.answer->end();
  waiting_.erase(found);
}

void LegacySession::get(ExchangeId exchange, const std::vector<Header>& headers, Time now) {
  heard_at_ = now;
  if (get_) {
    return around_.reply(exchange, error_page(409, {}, mcp::invalid_request,
                                              "This session has a GET stream already"));
  }
  get_.emplace(around_, exchange, headers);
  get_->begin();
  for (const std::string& line : std::exchange(parked_, {})) get_->push(line);
  parked_bytes_ = 0;
}

// A connection that was lost says nothing about the request: only notifications/cancelled does.
void LegacySession::exchange_closed(ExchangeId exchange) {
  if (get_ && get_->exchange() == exchange) get_.reset();
  for (auto& [id, waiting] : waiting_) {
    if (waiting.answer && waiting.answer->exchange() == exchange) waiting.answer.reset();
  }
}

LegacySession::Fate LegacySession::hear(std::string_view line, const Message& message) {
  switch (link_.hear(line, message)) {
    case Link::ReadResult::nothing:
      return Fate::goes_on;
    case Link::ReadResult::refused:
      return Fate::over;
    case Link::ReadResult::message:
      break;
  }
  if (message.kind == MessageKind::result || message.kind == MessageKind::error) {
    return respond(line, message);
  }
  route(line, message);
  return Fate::goes_on;
}

// A session begins with the result of initialize, and there is none without.
LegacySession::Fate LegacySession::respond(std::string_view line, const Message& message) {
  const auto found = waiting_.find(message.id.in(line));
  if (found == waiting_.end()) return Fate::goes_on;
  Waiting waiting = std::move(found->second);
  waiting_.erase(found);
  // Nor where nobody is left to be told its name.
  const bool failed =
      waiting.initializes && (message.kind == MessageKind::error || !waiting.answer);
  if (waiting.answer) {
    if (waiting.initializes && !failed) waiting.answer->add_header({"Mcp-Session-Id", name_});
    waiting.answer->finish(line);
  }
  return failed ? Fate::over : Fate::goes_on;
}

void LegacySession::route(std::string_view line, const Message& message) {
  if (Answer* stream = stream_for(line, message)) return stream->push(line);
  // Progress of a request that nobody waits for any more is of no use to anybody.
  if (message.progress_token.empty()) park(line);
}

Answer* LegacySession::stream_for(std::string_view line, const Message& message) {
  if (!message.progress_token.empty()) return owner_of_token(message.progress_token.in(line));
  Answer* const listening = get_ ? &*get_ : nullptr;
  Answer* const asking = youngest();
  if (is_about_changes(message)) return listening != nullptr ? listening : asking;
  return asking != nullptr ? asking : listening;
}

Answer* LegacySession::owner_of_token(std::string_view token) {
  const auto found = std::ranges::find_if(waiting_, [&](const auto& entry) {
    return entry.second.progress_token == token && entry.second.answer;
  });
  return found == waiting_.end() ? nullptr : &*found->second.answer;
}

Answer* LegacySession::youngest() {
  Waiting* best = nullptr;
  for (auto& [id, waiting] : waiting_) {
    // The session's name comes with the answer to initialize; a stream begun before would lack it.
    if (!waiting.answer || waiting.initializes) continue;
    if (best == nullptr || waiting.order > best->order) best = &waiting;
  }
  return best == nullptr ? nullptr : &*best->answer;
}

void LegacySession::park(std::string_view line) {
  if (line.size() > most_parked_bytes) return;
  parked_.emplace_back(line);
  parked_bytes_ += line.size();
  while (parked_.size() > most_parked || parked_bytes_ > most_parked_bytes) {
    parked_bytes_ -= parked_.front().size();
    parked_.pop_front();
  }
}

void LegacySession::end(std::string_view error) {
  link_.close();
  for (auto& [id, waiting] : std::exchange(waiting_, {})) {
    if (waiting.answer) waiting.answer->finish(error_line(id, error), status_of_end(error));
  }
  if (get_) get_->end();
  get_.reset();
}

void LegacySession::keep_alive() {
  if (get_) get_->keep_alive();
  for (auto& [id, waiting] : waiting_) {
    if (waiting.answer && !waiting.initializes) waiting.answer->keep_alive();
  }
}

bool LegacySession::is_idle(Time now, Time longest) const {
  const bool awaited = std::ranges::any_of(
      waiting_, [](const auto& entry) { return entry.second.answer.has_value(); });
  return !get_ && !awaited && now - heard_at_ > longest;
}

}  // namespace cellblock::http
