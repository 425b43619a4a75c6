#include "supervisor/gateway/conversation.h"

#include <algorithm>
#include <array>
#include <string>

#include "supervisor/gateway/client_features.h"
#include "supervisor/gateway/failures.h"
#include "supervisor/gateway/replies.h"

namespace cellblock::gateway {

namespace {

using wire::AuditKind;
using wire::AuditOutcome;

constexpr std::size_t max_named_method = 128;
constexpr std::string_view probe_tool = "run";

Era era_of(const Message& message) { return message.is_modern() ? Era::modern : Era::legacy; }

std::uint64_t microseconds_since(Time began, Time now) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now - began).count());
}

Call call_of(std::string_view line, const Message& message, std::uint64_t ours, Time now) {
  const CallKind kind = kind_of(message.method);
  return Call{.ours = ours,
              .theirs = std::string(message.id.in(line)),
              .progress_token = std::string(message.meta_progress_token.in(line)),
              .tool = kind == CallKind::tool_call ? message.name_text : std::string{},
              .kind = kind,
              .era = era_of(message),
              .began = now};
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

Failure too_many_calls(const Server& server) {
  return plain_failure(FailureCode::too_many,
                       "more than " + std::to_string(Conversation::max_calls) + " calls in flight",
                       server.name);
}

}  // namespace

Conversation::Conversation(const Server& server, wire::CellProgram program, UpstreamIds& ids,
                           ConversationEffects& effects)
    : server_(server), program_(program), ids_(ids), effects_(effects) {}

std::string Conversation::failed_reply(std::string_view id, CallKind kind, Era era,
                                       const Failure& failure) {
  return kind == CallKind::tool_call ? tool_error_reply(id, failure, era)
                                     : error_reply(id, failure);
}

void Conversation::fail_all(const Failure& failure, Time now) {
  for (const Call& call : calls_.take_all()) answer(call, failure, now);
}

bool Conversation::fail(std::string_view ours, const Failure& failure, Time now) {
  const auto call = calls_.close(ours);
  if (call) answer(*call, failure, now);
  return call.has_value();
}

void Conversation::answer(const Call& call, const Failure& failure, Time now) {
  const std::string reply = failed_reply(call.theirs, call.kind, call.era, failure);
  say_to_host(reply);
  note_end(call, AuditOutcome::error, name_of(failure.code), reply.size(), now);
}

void Conversation::cancel_all(std::string_view reason, Time now) {
  for (const Call& call : calls_.take_all()) {
    if (call.kind != CallKind::initialize) say_to_cell(cancelled_notification(call.ours, reason));
    note_end(call, AuditOutcome::cancelled, reason, 0, now);
  }
}

// --- host to server ------------------------------------------------------------------------------

void Conversation::from_host(std::string_view line, const Message& message, Time now) {
  switch (message.kind) {
    case MessageKind::request:
      return request_from_host(line, message, now);
    case MessageKind::notification:
      return notification_from_host(line, message, now);
    case MessageKind::result:
    case MessageKind::error:
      return response_from_host(line, message);
  }
}

void Conversation::request_from_host(std::string_view line, const Message& message, Time now) {
  const CallKind kind = kind_of(message.method);
  if (refused(line, message, kind)) return;

  Call call = call_of(line, message, ids_.next(), now);
  const EditedMessage edited(line, edits_for_cell(line, message, call));
  if (kind == CallKind::tool_call) {
    effects_.record({.kind = AuditKind::call,
                     .outcome = AuditOutcome::ok,
                     .tool = call.tool,
                     .reason = may_call(call.tool).rule,
                     .call = call.ours,
                     .bytes = line.size()});
  }
  ++traffic_.calls;
  calls_.open(std::move(call));
  effects_.to_cell(edited.slices());
}

// allow.tools is about the server's tools. The probe's one is ours and has no effect of its own.
Decision Conversation::may_call(std::string_view tool) const {
  if (program_ == wire::CellProgram::probe) return {tool == probe_tool, "probe"};
  return may_call_tool(server_.allow, tool);
}

// Answers it when it may not go on. Permission first: what a user may not call does not exist for
// that user, however the rest of the request looks.
bool Conversation::refused(std::string_view line, const Message& message, CallKind kind) {
  const std::string_view id = message.id.in(line);
  if (kind == CallKind::tool_call) {
    const Decision decision = may_call(message.name_text);
    if (!decision.allowed) {
      effects_.record({.kind = AuditKind::call,
                       .outcome = AuditOutcome::denied,
                       .tool = message.name_text,
                       .reason = decision.rule,
                       .bytes = line.size()});
      say_to_host(protocol_error(id, invalid_params, "Unknown tool: " + message.name_text));
      return true;
    }
    if (effects_.audit_state() == AuditState::broken) {
      const Failure failure =
          plain_failure(FailureCode::audit_unavailable,
                        "the audit log cannot be written, so nothing new is called", server_.name);
      say_to_host(failed_reply(id, kind, era_of(message), failure));
      return true;
    }
  }
  const auto refusal = calls_.refusal_for(id);
  if (!refusal) return false;
  say_to_host(*refusal == CallTable::Refusal::duplicate
                  ? protocol_error(id, invalid_request, "a request with this id is still in flight")
                  : failed_reply(id, kind, era_of(message), too_many_calls(server_)));
  return true;
}

std::vector<Replacement> Conversation::edits_for_cell(std::string_view line, const Message& message,
                                                      const Call& call) const {
  std::vector<Replacement> edits;
  edits.reserve(3);
  const std::string ours = std::to_string(call.ours);
  edits.push_back({message.id, ours});
  if (!message.meta_progress_token.empty()) edits.push_back({message.meta_progress_token, ours});
  const Span said = call.kind == CallKind::initialize ? message.capabilities : Span{};
  for (const Span capabilities : {said, message.client_capabilities}) {
    if (capabilities.empty()) continue;
    auto kept = strip_capabilities(capabilities.in(line), server_.client_features);
    if (kept) edits.push_back({capabilities, std::move(*kept)});
  }
  return edits;
}

void Conversation::notification_from_host(std::string_view line, const Message& message, Time now) {
  if (is_stray(line, message)) return;
  if (message.method == "notifications/cancelled") return cancel_from_host(line, message, now);
  if (message.method == "notifications/progress") {
    return progress(line, message, server_calls_, &ConversationEffects::to_cell);
  }
  effects_.to_cell(EditedMessage(line, {}).slices());
}

void Conversation::cancel_from_host(std::string_view line, const Message& message, Time now) {
  const std::string_view theirs = message.request_id.in(line);
  const Call* call = calls_.find_theirs(theirs);
  if (theirs.empty() || call == nullptr || call->kind == CallKind::initialize) {
    ++traffic_.stray_notifications;
    return;
  }
  const Call cancelled = *calls_.cancel(theirs);
  const EditedMessage edited(line, {{message.request_id, std::to_string(cancelled.ours)}});
  effects_.to_cell(edited.slices());
  note_end(cancelled, AuditOutcome::cancelled, "host", 0, now);
}

void Conversation::response_from_host(std::string_view line, const Message& message) {
  const std::string_view ours = message.id.in(line);
  const auto call = server_calls_.close(ours);
  if (!call) {
    ++(server_calls_.was_cancelled(ours) ? traffic_.late_answers : traffic_.foreign_answers);
    return;
  }
  effects_.to_cell(EditedMessage(line, {{message.id, call->theirs}}).slices());
}

// --- server to host ------------------------------------------------------------------------------

void Conversation::from_cell(std::string_view line, const Message& message, Time now) {
  const bool is_answer = message.kind == MessageKind::result || message.kind == MessageKind::error;
  if (!is_answer && line.size() > server_.lines.to_host) return refuse_size(line, message);
  switch (message.kind) {
    case MessageKind::request:
      return request_from_cell(line, message, now);
    case MessageKind::notification:
      return notification_from_cell(line, message);
    case MessageKind::result:
    case MessageKind::error:
      return response_from_cell(line, message, now);
  }
}

// An answer that is too long becomes a failure of its call (deliver); nobody waits for these.
void Conversation::refuse_size(std::string_view line, const Message& message) {
  effects_.record({.kind = AuditKind::refused,
                   .outcome = AuditOutcome::denied,
                   .tool = message.method,
                   .reason = name_of(FailureCode::too_large),
                   .bytes = line.size()});
  if (message.kind == MessageKind::request) {
    say_to_cell(protocol_error(message.id.in(line), invalid_request, "the request is too large"));
  }
}

void Conversation::request_from_cell(std::string_view line, const Message& message, Time now) {
  const std::string_view id = message.id.in(line);
  if (!server_may_request(message.method, server_.client_features)) {
    effects_.record({.kind = AuditKind::refused,
                     .outcome = AuditOutcome::denied,
                     .tool = message.method,
                     .reason = "client_features",
                     .bytes = line.size()});
    return say_to_cell(protocol_error(id, method_not_found, "Method not found"));
  }
  if (server_calls_.refusal_for(id)) {
    return say_to_cell(protocol_error(id, invalid_request, "too many requests, or one id twice"));
  }
  Call call = call_of(line, message, ids_.next(), now);
  const std::string ours = std::to_string(call.ours);
  std::vector<Replacement> edits{{message.id, ours}};
  if (!message.meta_progress_token.empty()) edits.push_back({message.meta_progress_token, ours});
  server_calls_.open(std::move(call));
  effects_.to_host(EditedMessage(line, std::move(edits)).slices());
}

void Conversation::notification_from_cell(std::string_view line, const Message& message) {
  if (is_stray(line, message)) return;
  if (const auto* method = forbidden_input(message)) return refuse_input(line, *method);
  if (message.method == "notifications/cancelled") return cancel_from_cell(line, message);
  if (message.method == "notifications/progress") {
    return progress(line, message, calls_, &ConversationEffects::to_host);
  }
  if (message.subscription_id.empty()) {
    return effects_.to_host(EditedMessage(line, {}).slices());
  }
  const Call* stream = calls_.find(message.subscription_id.in(line));
  if (stream == nullptr) {
    ++traffic_.stray_notifications;
    return;
  }
  effects_.to_host(EditedMessage(line, {{message.subscription_id, stream->theirs}}).slices());
}

// Withdraws a request of the server's own, or (2026-07-28) ends a listen stream of the host's.
void Conversation::cancel_from_cell(std::string_view line, const Message& message) {
  const std::string_view id = message.request_id.in(line);
  if (const auto own = id.empty() ? std::nullopt : server_calls_.cancel(id)) {
    const EditedMessage edited(line, {{message.request_id, std::to_string(own->ours)}});
    return effects_.to_host(edited.slices());
  }
  const Call* stream = calls_.find(id);
  if (stream == nullptr || stream->kind != CallKind::listen) {
    ++traffic_.stray_notifications;
    return;
  }
  const Call closed = *calls_.close(id);
  effects_.to_host(EditedMessage(line, {{message.request_id, closed.theirs}}).slices());
}

void Conversation::response_from_cell(std::string_view line, const Message& message, Time now) {
  const std::string_view ours = message.id.in(line);
  const auto call = calls_.close(ours);
  if (!call) {
    ++(calls_.was_cancelled(ours) ? traffic_.late_answers : traffic_.foreign_answers);
    return;
  }
  deliver(line, message, *call, now);
}

void Conversation::deliver(std::string_view line, const Message& message, const Call& call,
                           Time now) {
  if (const auto* method = forbidden_input(message)) {
    refuse_input(line, *method);
    return answer(call, forbidden_input_failure(server_, *method), now);
  }
  std::vector<Replacement> edits;
  if (call.kind == CallKind::tools_list) {
    edits = narrow_tools(line, message,
                         [this](std::string_view tool) { return may_call(tool).allowed; });
  }
  edits.push_back({message.id, call.theirs});
  if (!message.subscription_id.empty()) edits.push_back({message.subscription_id, call.theirs});
  const EditedMessage edited(line, std::move(edits));

  const std::size_t size = edited.size() - 1;  // without the newline
  if (size > server_.lines.to_host) {
    const Failure failure =
        plain_failure(FailureCode::too_large,
                      "the answer has " + std::to_string(size) + " bytes; lines.to_host allows " +
                          std::to_string(server_.lines.to_host),
                      server_.name);
    say_to_host(failed_reply(call.theirs, call.kind, call.era, failure));
    return note_end(call, AuditOutcome::error, name_of(failure.code), size, now);
  }
  effects_.to_host(edited.slices());
  note_end(call, message.kind == MessageKind::result ? AuditOutcome::ok : AuditOutcome::error, "",
           size, now);
}

// In the modern era a server asks by answering (inputRequests), and with a notification of a task:
// what it may not ask with a request of its own, it may not ask so. Null: nothing forbidden.
const std::string* Conversation::forbidden_input(const Message& message) const {
  const auto found = std::ranges::find_if(message.input_methods, [this](const std::string& method) {
    return !server_may_request(method, server_.client_features);
  });
  return found == message.input_methods.end() ? nullptr : &*found;
}

void Conversation::refuse_input(std::string_view line, const std::string& method) {
  effects_.record({.kind = AuditKind::refused,
                   .outcome = AuditOutcome::denied,
                   .tool = method,
                   .reason = "client_features",
                   .bytes = line.size()});
}

// --- both ways -----------------------------------------------------------------------------------

// Only an id makes tools/call a request, but servers have been seen to act on one without it:
// past permission and past the audit log.
bool Conversation::is_stray(std::string_view line, const Message& message) {
  if (message.method.starts_with("notifications/")) return false;
  ++traffic_.stray_notifications;
  effects_.record({.kind = AuditKind::refused,
                   .outcome = AuditOutcome::denied,
                   .tool = message.method,
                   .reason = "not_a_notification",
                   .bytes = line.size()});
  return true;
}

// What names no call in flight goes no further: it is late, or it was never asked for.
void Conversation::progress(std::string_view line, const Message& message, const CallTable& calls,
                            void (ConversationEffects::*send)(Slices)) {
  const Call* call = calls.find(message.progress_token.in(line));
  if (call == nullptr || call->progress_token.empty()) {
    ++traffic_.stray_notifications;
    return;
  }
  const EditedMessage edited(line, {{message.progress_token, call->progress_token}});
  (effects_.*send)(edited.slices());
}

void Conversation::say_to_host(std::string_view text) {
  effects_.to_host(std::array<std::string_view, 2>{text, "\n"});
}

void Conversation::say_to_cell(std::string_view text) {
  effects_.to_cell(std::array<std::string_view, 2>{text, "\n"});
}

void Conversation::note_end(const Call& call, AuditOutcome outcome, std::string_view reason,
                            std::size_t bytes, Time now) {
  if (call.kind != CallKind::tool_call) return;
  effects_.record({.kind = AuditKind::call_ended,
                   .outcome = outcome,
                   .tool = call.tool,
                   .reason = reason,
                   .call = call.ours,
                   .bytes = bytes,
                   .microseconds = microseconds_since(call.began, now)});
}

}  // namespace cellblock::gateway
