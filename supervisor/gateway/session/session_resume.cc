#include <array>
#include <string>
#include <utility>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/session/session.h"

/// The session's part that resumes a session of an ended gateway (session_handoff.h).
namespace cellblock::gateway {

std::optional<Failure> Session::take_up(const ControlRequest& request) {
  if (!attachment_.has_stdio()) {
    if (request.resume.empty()) return std::nullopt;
    return plain_failure(FailureCode::invalid_request,
                         "parameter \"resume\" is for a session over handed stdio");
  }
  resumption_ = std::make_unique<SessionHandoff>();
  if (request.resume.empty()) return std::nullopt;
  auto resumed = SessionHandoff::of(request.resume);
  if (!resumed) {
    return plain_failure(FailureCode::invalid_request,
                         "parameter \"resume\" is not what cellblock/ended gave");
  }
  *resumption_ = *std::move(resumed);
  is_resumed_ = true;
  return std::nullopt;
}

// Starts no cell before the host has sent a line.
bool Session::waits_to_be_taken_up(std::string_view line, const Message& message, Time now) {
  if (!resumption_) return false;
  SessionReplay& memory = resumption_->memory();
  if (!memory.is_due()) {
    memory.from_host(line, message);
    return false;
  }
  resumption_->keep_first(line);
  effects_.set_host_flow(HostFlow::held);
  resend(memory.begin(), now);
  settle_resumption(now);
  return true;
}

void Session::resend(std::string text, Time now) {
  const WrittenMessage written(shared_.scanner, std::move(text));
  if (!written.message()) return;
  route_->from_host(written.line(), *written.message(), now);
  tell_refusals(now);
}

bool Session::is_for_memory(Slices message) {
  if (!resumption_ || !resumption_->memory().listens()) return false;
  const WrittenMessage written(shared_.scanner, joined(message));
  return written.message() && resumption_->memory().answered(written.line(), *written.message());
}

void Session::settle_resumption(Time now) {
  if (!resumption_) return;
  switch (resumption_->memory().take_outcome()) {
    case SessionReplay::Outcome::none:
      return;
    case SessionReplay::Outcome::agreed:
      return taken_up(now);
    case SessionReplay::Outcome::refused:
      return fail(cannot_go_on(server_, resumption_->memory().refusal()), now);
  }
}

void Session::taken_up(Time now) {
  for (std::string& text : resumption_->memory().rest()) resend(std::move(text), now);
  for (const std::string& text : resumption_->memory().missed()) reply_to_host(text);
  std::string line = resumption_->take_kept();
  line.pop_back();
  const WrittenMessage first(shared_.scanner, std::move(line));
  if (first.message()) {
    resumption_->memory().from_host(first.line(), *first.message());
    route_->from_host(first.line(), *first.message(), now);
    tell_refusals(now);
  }
  effects_.set_host_flow(HostFlow::flowing);
}

// Answers the lines that waited for the resumed session, which is over.
void Session::answer_kept_with_failure() {
  if (!resumption_ || !resumption_->keeps_lines()) return;
  std::string line = resumption_->take_kept();
  line.pop_back();
  const WrittenMessage first(shared_.scanner, std::move(line));
  if (first.message()) answer_with_failure(first.line(), *first.message());
}

// True: the message is kept for the next gateway.
bool Session::kept_for_next(std::string_view line, const Message& message) {
  if (!resumption_) return false;
  const bool is_answer =
      message.kind != MessageKind::request && message.kind != MessageKind::notification;
  const bool is_behind = resumption_->keeps_lines();
  if (is_answer || (message.kind == MessageKind::notification && !is_behind)) return false;
  return resumption_->keep(line);
}

void Session::note_request(std::string_view line, const Message& message) {
  const bool is_tool = message.method == mcp::method::tools_call;
  const CallShape shape = message.is_modern() ? CallShape::modern_tool : CallShape::legacy_tool;
  effects_.host_asked(message.id.in(line), is_tool ? shape : CallShape::request);
}

bool Session::owes(std::string_view id) const {
  const bool may_be_held = state_ == State::attaching || control_owed_ != 0 || !reads_.empty() ||
                           (resumption_ && resumption_->keeps_lines());
  return may_be_held || (route_ && route_->is_in_flight(id));
}

std::optional<std::string> Session::memory_text() const {
  const auto memory = resumption_ ? resumption_->memory().kept() : std::nullopt;
  return memory ? std::optional(text_of(*memory)) : std::nullopt;
}

std::uint64_t Session::memory_version() const {
  return resumption_ ? resumption_->memory().changes() : 0;
}

std::optional<std::string> Session::resume_text() {
  const bool is_served = state_ == State::attached || state_ == State::draining;
  if (!resumption_ || !is_served) return std::nullopt;
  const auto unread = effects_.stop_reading_host();
  return unread ? resumption_->text(*unread) : std::nullopt;
}

}  // namespace cellblock::gateway
