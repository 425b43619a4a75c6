#include <algorithm>
#include <string>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/upstream/answer_edits.h"
#include "supervisor/gateway/upstream/call_failures.h"
#include "supervisor/gateway/upstream/client_features.h"
#include "supervisor/gateway/upstream/new_call.h"
#include "supervisor/gateway/upstream/upstream.h"

/// What the server says to its host; the other way is in upstream.cc.
namespace cellblock::gateway {

using wire::AuditKind;
using wire::AuditOutcome;

void Upstream::from_cell(std::string_view line, const Message& message, Time now) {
  const bool is_answer = message.kind == MessageKind::result || message.kind == MessageKind::error;
  if (is_answer) {
    response_from_cell(line, message, now);
  } else if (line.size() > server_.lines.to_host) {
    refuse_size(line, message);
  } else if (message.kind == MessageKind::request) {
    request_from_cell(line, message, now);
  } else {
    notification_from_cell(line, message, now);
  }
  watch_clock(now);
}

// An answer that is too long becomes a failure of its call (deliver); nobody waits for these.
void Upstream::refuse_size(std::string_view line, const Message& message) {
  const std::string method = said_method(message.method);
  effects_.record({.kind = AuditKind::refused,
                   .outcome = AuditOutcome::denied,
                   .tool = method,
                   .reason = name_of(FailureCode::too_large),
                   .bytes = line.size()});
  if (message.kind == MessageKind::request) {
    reply_to_cell(
        protocol_error(message.id.in(line), mcp::invalid_request, "the request is too large"));
  }
}

void Upstream::request_from_cell(std::string_view line, const Message& message, Time now) {
  const std::string_view id = message.id.in(line);
  if (!server_may_request(message.method, features())) {
    refuse_input(line, message.method);
    return reply_to_cell(protocol_error(id, mcp::method_not_found, "Method not found"));
  }
  if (server_calls_.refusal_for(id)) {
    return reply_to_cell(
        protocol_error(id, mcp::invalid_request, "too many requests, or one id twice"));
  }
  Call call = call_of(line, message, ids_.next(), now);
  call.is_for_somebody =
      message.method != mcp::method::ping && message.method != mcp::method::roots_list;
  const std::string own_id = std::to_string(call.own_id);
  std::vector<Replacement> edits{{message.id, own_id}};
  if (!message.meta_progress_token.empty()) edits.push_back({message.meta_progress_token, own_id});
  say_who_asks(line, message, server_.name, edits);
  if (!values_.hand_out(line, message, now, edits)) return refuse_size(line, message);
  if (!redact(Direction::to_host, line, message, edits)) {
    return reply_to_cell(protocol_error(id, mcp::invalid_request, "this may not be asked"));
  }
  server_calls_.open(std::move(call));
  effects_.to_host(EditedMessage(line, std::move(edits)).slices());
}

void Upstream::notification_from_cell(std::string_view line, const Message& message, Time now) {
  if (is_stray(Direction::to_host, line, message)) return;
  const bool is_of_stream = !message.subscription_id.empty();
  const Call* stream = is_of_stream ? stream_of(line, message) : nullptr;
  if (is_of_stream && stream == nullptr) {
    ++traffic_.stray_notifications;
    return;
  }
  if (const auto* method = forbidden_input(message)) return refuse_input(line, *method);
  if (message.method == mcp::notification::cancelled) return cancel_from_cell(line, message);
  if (message.method == mcp::notification::progress) {
    return progress_from_cell(line, message, now);
  }
  if (is_early(line, message)) return;
  // No change of it can be seen by whom it always is empty for.
  if (message.method == mcp::notification::tools_changed && rights_.shows_none(AccessKind::tool)) {
    return;
  }
  if (message.method == mcp::notification::resource_updated &&
      names_hidden(line, message, rights_)) {
    ++traffic_.stray_notifications;
    return;
  }
  std::vector<Replacement> edits;
  say_who_asks(line, message, server_.name, edits);
  if (!values_.hand_out(line, message, now, edits)) return refuse_size(line, message);
  if (is_of_stream) edits.push_back({message.subscription_id, stream->caller_id});
  if (!redact(Direction::to_host, line, message, edits)) return;
  if (message.method == mcp::notification::acknowledged) note_acknowledged(line, message);
  bound_task(line, message, now, edits);
  if (message.method.starts_with(mcp::notification::tasks) && message.task_ids.size() == 1 &&
      says_ended(message.params.in(line))) {
    open_tasks_.end(message.task_ids.front().in(line));
  }
  effects_.to_host(EditedMessage(line, std::move(edits)).slices());
}

// Asked before anything is sealed or kept for it: a server may name as many as it likes. Null: it
// is not there.
const Call* Upstream::stream_of(std::string_view line, const Message& message) const {
  const Call* stream = calls_.find(message.subscription_id.in(line));
  return stream != nullptr && stream->kind == CallKind::listen ? stream : nullptr;
}

Listening Upstream::listening() const {
  Listening most = Listening::nothing;
  for (const Call& call : calls_.all()) {
    if (call.kind != CallKind::listen) continue;
    most = std::max(most, call.wants_more ? Listening::more : Listening::lists);
  }
  return most;
}

std::vector<std::uint64_t> Upstream::streams_about(mcp::ListKind kind) const {
  const auto index = static_cast<unsigned>(&mcp::change_of(kind) - mcp::list_changes.data());
  std::vector<std::uint64_t> streams;
  for (const Call& call : calls_.all()) {
    if ((call.wanted_changes >> index & 1U) != 0) streams.push_back(call.own_id);
  }
  return streams;
}

bool Upstream::hears(mcp::ListKind kind) const {
  const auto index = static_cast<unsigned>(&mcp::change_of(kind) - mcp::list_changes.data());
  return std::ranges::any_of(
      calls_.all(), [index](const Call& call) { return (call.agreed_changes >> index & 1U) != 0; });
}

void Upstream::note_acknowledged(std::string_view line, const Message& message) {
  Call* stream = calls_.find(message.subscription_id.in(line));
  if (stream == nullptr) return;
  stream->agreed_changes = stream->wanted_changes & wished_changes(line, message);
}

// Withdraws a request of the server's own, or (2026-07-28) ends a listen stream of the host's.
void Upstream::cancel_from_cell(std::string_view line, const Message& message) {
  const std::string_view id = message.request_id.in(line);
  if (const auto own = id.empty() ? std::nullopt : server_calls_.cancel(id)) {
    auto edits = cancel_edits(Direction::to_host, line, message, std::to_string(own->own_id));
    return effects_.to_host(EditedMessage(line, std::move(edits)).slices());
  }
  const Call* stream = calls_.find(id);
  if (stream == nullptr || stream->kind != CallKind::listen) {
    ++traffic_.stray_notifications;
    return;
  }
  const Call closed = *calls_.close(id);
  auto edits = cancel_edits(Direction::to_host, line, message, closed.caller_id);
  effects_.to_host(EditedMessage(line, std::move(edits)).slices());
}

void Upstream::response_from_cell(std::string_view line, const Message& message, Time now) {
  const std::string_view own_id = message.id.in(line);
  auto call = calls_.close(own_id);
  if (!call) {
    ++(calls_.was_cancelled(own_id) ? traffic_.late_answers : traffic_.foreign_answers);
    return;
  }
  if (const auto kept = call->pace.take_kept()) send_line_to_host(*kept);
  deliver(line, message, *call, now);
  follow_task(line, message, *std::move(call), now);
  send_early(line, message, now);
}

// Only a tool's call becomes a task.
void Upstream::follow_task(std::string_view line, const Message& message, Call call, Time now) {
  if (message.kind != MessageKind::result || message.task_ids.size() != 1) return;
  const std::string_view task = message.task_ids.front().in(line);
  const bool is_result = call.kind == CallKind::task_result;
  const bool is_over = call.kind == CallKind::task_state && says_ended(message.result.in(line));
  if (is_result || is_over) open_tasks_.end(task);
  if (is_result) return task_progress_.end(task);
  if (!values_.knows_task(task)) return;
  if (call.kind == CallKind::tool_call) open_tasks_.begin(task, now + OpaqueTokens::task_life);
  const bool is_awaited = call.kind == CallKind::tool_call && !call.progress_token.empty();
  if (is_awaited && call.era == Era::legacy) task_progress_.begin(std::move(call), task);
}

// False: it may pass. A status about a task whose creation is still to be answered waits for that.
bool Upstream::is_early(std::string_view line, const Message& message) {
  if (!message.method.starts_with(mcp::notification::tasks) || message.task_ids.empty())
    return false;
  const Span task = message.task_ids.front();
  if (values_.knows_task(task.in(line)) || !message.subscription_id.empty()) return false;
  const bool waits = calls_.size() != 0 && early_.hold(line, message);
  if (!waits) ++traffic_.stray_notifications;
  return true;
}

void Upstream::send_early(std::string_view line, const Message& message, Time now) {
  if (early_.empty()) return;
  for (const Span task : message.task_ids) {
    for (const TaskStatusBuffer::Held& held : early_.take(task.in(line))) {
      send_held(held, now);
    }
  }
  if (calls_.size() == 0) traffic_.stray_notifications += early_.give_up();
}

void Upstream::deliver(std::string_view line, const Message& message, const Call& call, Time now) {
  if (const auto* method = forbidden_input(message)) {
    refuse_input(line, *method);
    return answer(call, forbidden_input_failure(server_, *method), now);
  }
  Findings findings;
  auto edits = answer_edits(line, message, call, rights_, pins_, findings);
  if (findings.any()) effects_.record(metadata_note(call, line.size()));
  if (!edit_answer(line, message, call, now, edits)) {
    return answer(call, answer_not_sealed(server_), now);
  }
  if (call.kind == CallKind::tool_call) values_.made_tasks(line, message, call.tool);
  const auto refused = [this, &call] { return !effects_.network_advice(call.began).empty(); };
  auto delivery = result_gate_.pass({line, message, call, now, refused}, std::move(edits));
  note_found(result_gate_.take_found(), call.tool, call.own_id,
             delivery ? AuditOutcome::ok : AuditOutcome::denied);
  if (!delivery) return answer(call, delivery.error(), now);
  delivery->edits.push_back({message.id, call.caller_id});
  const EditedMessage edited(line, std::move(delivery->edits));
  if (!edited.is_sound()) return answer(call, answer_not_editable(server_), now);

  const std::size_t size = edited.size() - 1;  // without the newline
  if (size > server_.lines.to_host) {
    const Failure failure = answer_too_large(server_, size);
    reply_to_host(failed_reply(call.caller_id, call.kind, call.era, failure));
    return note_end(call, AuditOutcome::error, name_of(failure.code), size, now);
  }
  flows_.answered(call.kind, call.tool, line);
  effects_.to_host(edited.slices());
  note_end(call, message.kind == MessageKind::result ? AuditOutcome::ok : AuditOutcome::error,
           delivery->remark, size, now);
}

// What was cleaned is a new text, where nothing has a place in the line any more.
bool Upstream::edit_answer(std::string_view line, const Message& message, const Call& call,
                           Time now, std::vector<Replacement>& edits) {
  for (Replacement& edit : edits) {
    if (edit.where == message.result) return values_.hand_out_cleaned(edit.text, now);
  }
  say_who_asks(line, message, server_.name, edits);
  if (!message.subscription_id.empty()) edits.push_back({message.subscription_id, call.caller_id});
  return values_.hand_out(line, message, now, edits);
}

// In the modern era a server asks by answering (inputRequests), and with a notification of a task:
// what it may not ask with a request of its own, it may not ask so. Null: nothing forbidden.
const std::string* Upstream::forbidden_input(const Message& message) const {
  const auto found = std::ranges::find_if(message.input_methods, [this](const std::string& method) {
    return !server_may_request(method, features());
  });
  return found == message.input_methods.end() ? nullptr : &*found;
}

void Upstream::refuse_input(std::string_view line, const std::string& method) {
  const std::string said = said_method(method);
  effects_.record({.kind = AuditKind::refused,
                   .outcome = AuditOutcome::denied,
                   .tool = said,
                   .reason = "client_features",
                   .bytes = line.size()});
}

}  // namespace cellblock::gateway
