#include "supervisor/gateway/upstream/upstream.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "policy/mcp/trace_context.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/gateway/upstream/call_failures.h"
#include "supervisor/gateway/upstream/client_features.h"
#include "supervisor/gateway/upstream/new_call.h"

namespace cellblock::gateway {
namespace {

using wire::AuditKind;
using wire::AuditOutcome;

constexpr std::string_view blocked_answer = "the answer holds what may not be sent to a server";
constexpr std::string_view foreign_value =
    "a cursor, requestState or taskId that is not known here, or no longer";

// A copy: what the rules are may have changed when somebody has answered.
std::optional<Rule> rule_of(const CallAccess& access) {
  return access.asks == nullptr ? std::nullopt : std::optional(*access.asks);
}

}  // namespace

Upstream::Upstream(const GateParts& parts, const Rights& rights, UpstreamIds& ids,
                   OpaqueTokens values, AuditArguments arguments, UpstreamEffects& effects)
    : server_(parts.server),
      rights_(rights),
      ids_(ids),
      effects_(effects),
      arguments_(arguments),
      pins_(parts.pins),
      flows_(parts.server, parts.policy.flows, parts.session, pins_),
      gate_(parts),
      result_gate_(parts),
      redaction_(parts.policy.redactions, parts.server_index, parts.server),
      values_(std::move(values)) {}

ClientFeatures Upstream::features() const { return permitted_features(server_, rights_); }

// --- host to server ------------------------------------------------------------------------------

void Upstream::from_host(std::string_view line, const Message& message, Time now) {
  if (line.size() > server_.lines.from_host) {
    refuse_size_from_host(line, message);
  } else if (message.kind == MessageKind::request) {
    request_from_host(line, message, now);
  } else if (message.kind == MessageKind::notification) {
    notification_from_host(line, message, now);
  } else {
    response_from_host(line, message, now);
  }
  watch_clock(now);
}

// What a bridge or the aggregate has written anew may be longer than what the host said.
void Upstream::refuse_size_from_host(std::string_view line, const Message& message) {
  effects_.record({.kind = AuditKind::refused,
                   .outcome = AuditOutcome::denied,
                   .tool = message.method,
                   .reason = name_of(FailureCode::too_large),
                   .bytes = line.size()});
  const std::string_view id = message.id.in(line);
  if (message.kind == MessageKind::request) {
    reply_to_host(failed_reply(id, kind_of(message.method), era_of(message),
                               line_too_large(line.size(), server_.lines.from_host, &server_)));
  } else if (message.kind != MessageKind::notification) {
    const auto call = server_calls_.close(id);
    if (call && call->question == 0)
      reply_to_cell(
          protocol_error(call->caller_id, mcp::invalid_request, "the answer is too large"));
  }
}

void Upstream::request_from_host(std::string_view line, const Message& message, Time now) {
  const CallKind kind = kind_of(message.method);
  pins_.host_says(line, message, features());
  const CallAccess access = access_for(line, message);
  record_flow(access);
  if (refused_access(line, message, access) || refused(line, message, kind)) return;

  CallWaiter& waiter = *this;
  auto passage = gate_.pass({line, message, now, waiter});
  note_found(gate_.take_found(), kind == CallKind::tool_call ? message.name_text : message.method,
             0, passage ? AuditOutcome::ok : AuditOutcome::denied);
  if (!passage) return refuse_at_gate(line, message, kind, passage.error());

  if (kind == CallKind::initialize) host_elicits_ = can_elicit(message.capabilities.in(line));
  Call call = call_of(line, message, ids_.next(), now);
  call.place = std::move(passage->place);
  std::vector<Replacement> edits = edits_for_cell(line, message, call);
  std::ranges::move(passage->edits, std::back_inserter(edits));
  if (!values_.give_back(line, message, now, edits)) return refuse_values(line, message);
  call.task_tool = values_.tool_behind(message, edits);
  const EditedMessage edited(line, std::move(edits));
  auto approval = approval_for(access, message, edited, now);
  if (!approval) return refuse_at_gate(line, message, kind, approval.error());
  call.approval = std::move(*approval);
  UnsentCall unsent = unsent_call(line, message, access, call);
  begin(std::move(call), std::move(unsent), edited, now);
}

// What the call's record will say and, where the call has to wait, by what it was let pass.
UnsentCall Upstream::unsent_call(std::string_view line, const Message& message,
                                 const CallAccess& access, const Call& call) {
  UnsentCall unsent{.rule = std::string(access.rule), .bytes = line.size()};
  const bool has_arguments = call.kind == CallKind::tool_call || call.kind == CallKind::prompt_get;
  if (has_arguments) note_arguments(line, message, unsent);
  if (!call.place.waits() && !call.approval.waits()) return unsent;
  unsent.judged = {
      .line = std::string(line), .message = message, .redaction = redaction_.revision()};
  if (call.approval.waits()) {
    unsent.judged->asks = rule_of(access);
    unsent.judged->definition = pins_.definition_of(line, message);
  }
  return unsent;
}

// A digest beside a text with a hole in it is one of what stood in the hole: guesses can be tried.
void Upstream::note_arguments(std::string_view line, const Message& message, UnsentCall& unsent) {
  bool is_clean = true;
  if (arguments_ == AuditArguments::redacted) {
    ArgumentText told = gate_.argument_text(message.params.in(line));
    unsent.argument_text = std::move(told.text);
    is_clean = told.is_clean;
  }
  if (arguments_ != AuditArguments::none && is_clean) {
    unsent.arguments = argument_digest(message.arguments.in(line));
  }
}

void Upstream::refuse_at_gate(std::string_view line, const Message& message, CallKind kind,
                              const Failure& failure) {
  const bool is_call = kind == CallKind::tool_call;
  effects_.record({.kind = is_call ? AuditKind::call : AuditKind::refused,
                   .outcome = AuditOutcome::denied,
                   .tool = is_call ? message.name_text : message.method,
                   .reason = name_of(failure.code),
                   .bytes = line.size(),
                   .traceparent = traceparent_in(message.traceparent.in(line))});
  reply_to_host(failed_reply(message.id.in(line), kind, era_of(message), failure));
}

// Asked first: what a user may not use does not exist for that user, however the rest of the
// request looks.
bool Upstream::refused_access(std::string_view line, const Message& message,
                              const CallAccess& access) {
  if (access.refusal.empty()) return false;
  effects_.record(note_of_denied(line, message, access));
  reply_to_host(access.refusal);
  return true;
}

// All that decides by what it names and by what was read: when it comes, and again when it goes on.
CallAccess Upstream::access_for(std::string_view line, const Message& message) {
  CallAccess access =
      access_of(line, message, rights_, server_, pins_.defaults_for(message, rights_));
  pins_.judge(line, message, access);
  flows_.judge(line, message, access);
  return access;
}

void Upstream::record_flow(const CallAccess& access) {
  if (access.flow == FlowEffect::off) return;
  const bool is_denied = access.flow == FlowEffect::deny;
  effects_.record({.kind = AuditKind::flow,
                   .outcome = is_denied ? AuditOutcome::denied : AuditOutcome::none,
                   .tool = access.named,
                   .reason = access.flow_rule});
}

// Answers it when it may not go on.
bool Upstream::refused(std::string_view line, const Message& message, CallKind kind) {
  const std::string_view id = message.id.in(line);
  if (is_recorded(kind) && effects_.audit_state() == AuditState::broken) {
    reply_to_host(failed_reply(id, kind, era_of(message), audit_failure(server_)));
    return true;
  }
  const auto refusal = calls_.refusal_for(id);
  if (!refusal) return false;
  reply_to_host(
      *refusal == CallTable::Refusal::duplicate
          ? protocol_error(id, mcp::invalid_request, "a request with this id is still in flight")
          : failed_reply(id, kind, era_of(message), too_many_calls(server_, max_calls)));
  return true;
}

std::vector<Replacement> Upstream::edits_for_cell(std::string_view line, const Message& message,
                                                  const Call& call) const {
  std::vector<Replacement> edits;
  edits.reserve(3);
  const std::string own_id = std::to_string(call.own_id);
  edits.push_back({message.id, own_id});
  if (!message.meta_progress_token.empty()) edits.push_back({message.meta_progress_token, own_id});
  const Span said = call.kind == CallKind::initialize ? message.capabilities : Span{};
  for (const Span capabilities : {said, message.client_capabilities}) {
    if (capabilities.empty()) continue;
    auto kept = strip_capabilities(capabilities.in(line), features());
    if (kept) edits.push_back({capabilities, std::move(*kept)});
  }
  return edits;
}

void Upstream::notification_from_host(std::string_view line, const Message& message, Time now) {
  if (is_stray(Direction::to_server, line, message)) return;
  if (message.method == mcp::notification::cancelled) return cancel_from_host(line, message, now);
  if (message.method == mcp::notification::progress) {
    return progress_from_host(line, message);
  }
  std::vector<Replacement> edits;
  if (!values_.give_back(line, message, now, edits)) return refuse_values(line, message);
  if (!redact(Direction::to_server, line, message, edits)) return;
  effects_.to_cell(EditedMessage(line, std::move(edits)).slices());
}

// Another session's, an earlier cell's, or made up: the server never sees it.
void Upstream::refuse_values(std::string_view line, const Message& message) {
  effects_.record({.kind = AuditKind::refused,
                   .outcome = AuditOutcome::denied,
                   .tool = message.method,
                   .reason = "foreign_value",
                   .bytes = line.size()});
  if (message.kind != MessageKind::request) return;
  reply_to_host(protocol_error(message.id.in(line), mcp::invalid_params, foreign_value));
}

void Upstream::cancel_from_host(std::string_view line, const Message& message, Time now) {
  const std::string_view caller_id = message.request_id.in(line);
  const Call* call = calls_.find_by_caller_id(caller_id);
  if (caller_id.empty() || call == nullptr || call->kind == CallKind::initialize) {
    ++traffic_.stray_notifications;
    return;
  }
  const Call cancelled = *calls_.cancel(caller_id);
  if (cancelled.is_sent) {
    auto edits =
        cancel_edits(Direction::to_server, line, message, std::to_string(cancelled.own_id));
    effects_.to_cell(EditedMessage(line, std::move(edits)).slices());
  }
  withdraw_question(cancelled, "cancelled");
  note_end(cancelled, AuditOutcome::cancelled, "host", 0, now);
}

void Upstream::response_from_host(std::string_view line, const Message& message, Time now) {
  const std::string_view own_id = message.id.in(line);
  const auto call = server_calls_.close(own_id);
  if (!call) {
    ++(server_calls_.was_cancelled(own_id) ? traffic_.late_answers : traffic_.foreign_answers);
    return;
  }
  if (call->question != 0) return answer_from_user(line, message, call->question, now);
  std::vector<Replacement> edits{{message.id, call->caller_id}};
  if (!redact(Direction::to_server, line, message, edits)) {
    return reply_to_cell(protocol_error(call->caller_id, mcp::invalid_request, blocked_answer));
  }
  if (values_.give_back(line, message, now, edits)) {
    const EditedMessage edited(line, std::move(edits));
    return call->is_for_somebody ? effects_.to_cell(edited.slices())
                                 : effects_.reply_to_cell(edited.slices());
  }
  refuse_values(line, message);
  reply_to_cell(protocol_error(call->caller_id, mcp::invalid_params, foreign_value));
}

// --- both ways -----------------------------------------------------------------------------------

// Only an id makes tools/call a request, but servers have been seen to act on one without it:
// past permission and past the audit log.
bool Upstream::is_stray(Direction direction, std::string_view line, const Message& message) {
  if (message.method.starts_with(mcp::notification::prefix)) return false;
  ++traffic_.stray_notifications;
  const std::string method =
      direction == Direction::to_host ? said_method(message.method) : message.method;
  effects_.record({.kind = AuditKind::refused,
                   .outcome = AuditOutcome::denied,
                   .tool = method,
                   .reason = "not_a_notification",
                   .bytes = line.size()});
  return true;
}

// What names no call in flight goes no further: it is late, or it was never asked for.
void Upstream::progress_from_host(std::string_view line, const Message& message) {
  const Call* call = server_calls_.find(message.progress_token.in(line));
  if (call == nullptr || call->progress_token.empty()) {
    ++traffic_.stray_notifications;
    return;
  }
  std::vector<Replacement> edits{{message.progress_token, call->progress_token}};
  if (!redact(Direction::to_server, line, message, edits)) return;
  effects_.to_cell(EditedMessage(line, std::move(edits)).slices());
}

void Upstream::progress_from_cell(std::string_view line, const Message& message, Time now) {
  const std::string_view own_id = message.progress_token.in(line);
  Call* const call = calls_.find(own_id);
  TaskProgress::Running* const task = call == nullptr ? task_progress_.find(own_id) : nullptr;
  if (call == nullptr && task == nullptr) {
    ++traffic_.stray_notifications;
    return;
  }
  const std::string& token = call != nullptr ? call->progress_token : task->token;
  ProgressLimiter& pace = call != nullptr ? call->pace : task->pace;
  const auto verdict =
      token.empty() ? ProgressLimiter::Verdict::falls : pace.judge(message.progress.in(line), now);
  std::vector<Replacement> edits;
  if (verdict == ProgressLimiter::Verdict::falls || !values_.hand_out(line, message, now, edits)) {
    ++traffic_.stray_notifications;
    return;
  }
  if (call != nullptr) call->deadline.extend(now);
  edits.push_back({message.progress_token, token});
  if (!redact(Direction::to_host, line, message, edits)) return;
  const EditedMessage edited(line, std::move(edits));
  if (verdict == ProgressLimiter::Verdict::pass) return effects_.to_host(edited.slices());
  keep_progress(pace, edited);
}

// For the answer. Where it is too much, what was kept before it is the last that the host hears.
void Upstream::keep_progress(ProgressLimiter& pace, const EditedMessage& edited) const {
  const std::size_t others =
      calls_.kept_progress() + task_progress_.kept_progress() - pace.kept_bytes();
  const bool fits =
      edited.size() <= ProgressLimiter::longest_kept && others + edited.size() <= max_kept_progress;
  if (fits) pace.keep(edited.flatten());
}

void Upstream::send_line_to_host(std::string_view line) {
  effects_.to_host(std::array<std::string_view, 1>{line});
}

void Upstream::reply_to_host(std::string_view text) {
  effects_.to_host(std::array<std::string_view, 2>{text, "\n"});
}

void Upstream::reply_to_cell(std::string_view text) {
  effects_.reply_to_cell(std::array<std::string_view, 2>{text, "\n"});
}

// Parts of messages that are not handed on as they are: those that redaction finds, which are
// recorded (which detector and how often, never the text), and those that are too large outside of
// answers.

// False: the message does not pass.
bool Upstream::redact(Direction direction, std::string_view line, const Message& message,
                      std::vector<Replacement>& edits) {
  const bool passes = redaction_.pass(direction, line, message, edits).has_value();
  const bool is_known = mcp::find_method(message.method) != nullptr;
  note_found(redaction_.take_found(), is_known ? std::string_view(message.method) : "", 0,
             passes ? AuditOutcome::ok : AuditOutcome::denied);
  return passes;
}

void Upstream::note_found(const FoundCounts& found, std::string_view tool, std::uint64_t call,
                          AuditOutcome outcome) {
  for (const auto& [name, count] : found) {
    effects_.record({.kind = AuditKind::finding,
                     .outcome = outcome,
                     .tool = tool,
                     .reason = name,
                     .call = call,
                     .count = count});
  }
}

// For the audit log: of what is none of MCP's, what may be said.
std::string Upstream::said_method(const std::string& method) {
  return mcp::find_method(method) != nullptr ? method : redaction_.clean(method);
}

// A cancellation passes in any case, without its words where these may not.
std::vector<Replacement> Upstream::cancel_edits(Direction direction, std::string_view line,
                                                const Message& message, std::string id) {
  std::vector<Replacement> edits{{message.request_id, id}};
  if (redact(direction, line, message, edits)) return edits;
  return {{message.params, R"({"requestId":)" + id + '}'}};
}

void Upstream::send_held(const TaskStatusBuffer::Held& held, Time now) {
  Message message;
  message.method = held.method;
  message.params = held.params;
  message.task_ids = {held.task};
  std::vector<Replacement> edits;
  if (!values_.hand_out_task(held.line, held.task, now, edits)) return;
  if (!redact(Direction::to_host, held.line, message, edits)) return;
  bound_task(held.line, message, now, edits);
  effects_.to_host(EditedMessage(held.line, std::move(edits)).slices());
}

// What it says of a finished task is the result of the call that made it.
void Upstream::bound_task(std::string_view line, const Message& message, Time now,
                          std::vector<Replacement>& edits) {
  if (!message.method.starts_with(mcp::notification::tasks)) return;
  const bool is_legacy = message.method == mcp::notification::task_status;
  const std::string_view tool = values_.tool_behind(line, message);
  result_gate_.pass_task({.line = line,
                          .state = message.params,
                          .tool = tool,
                          .era = is_legacy ? Era::legacy : Era::modern,
                          .now = now},
                         edits);
  note_found(result_gate_.take_found(), tool, 0, AuditOutcome::ok);
}

}  // namespace cellblock::gateway
