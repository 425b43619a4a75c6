#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "policy/approvals/approvals.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/upstream/new_call.h"
#include "supervisor/gateway/upstream/upstream.h"

/// A call of the host's that somebody has to approve.
namespace cellblock::gateway {

namespace {

using wire::AuditKind;
using wire::AuditOutcome;

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds tells_waiting_every{15};

/// No id of a server's, in raw JSON, is spelt so.
constexpr std::string_view nobodys_id = "approval";

bool asks_as(const Rule* now, const std::optional<Rule>& then) {
  return now == nullptr ? !then : then && *then == *now;
}

Json details(const Call& call, const std::string& server) {
  const ApprovalRequest& request = call.approval.entry().request;
  return {{"id", read_tree(call.caller_id)}, {"server", server},
          {"method", request.method},        {"name", request.name},
          {"arguments", request.arguments},  {"params", request.params}};
}

Json answer_schema() {
  const Json allow = {{"type", "boolean"}, {"title", "Allow this call"}, {"default", false}};
  return {{"type", "object"},
          {"properties", {{approval_question::answer_member, allow}}},
          {"required", Json::array({approval_question::answer_member})}};
}

std::string question(std::uint64_t own_id, const std::string& text, Json about) {
  const Json request = {{"jsonrpc", "2.0"},
                        {"id", own_id},
                        {"method", mcp::method::elicitation_create},
                        {"params",
                         {{"message", text},
                          {"requestedSchema", answer_schema()},
                          {"_meta", {{approval_question::meta_key, std::move(about)}}}}}};
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool says_yes(std::string_view line, const Message& message) {
  if (message.kind != MessageKind::result) return false;
  const auto answer = read_tree(line);
  const auto result = answer.find("result");
  if (result == answer.end() || !result->is_object()) return false;
  const Json content = result->value("content", Json());
  return result->value("action", Json()) == "accept" && content.is_object() &&
         content.value(approval_question::answer_member, Json()) == true;
}

}  // namespace

std::expected<Approval, Failure> Upstream::approval_for(const CallAccess& access,
                                                        const Message& message,
                                                        const EditedMessage& edited, Time now) {
  if (access.asks == nullptr) return Approval();
  const bool is_users = access.asks->approver == Approver::user;
  // A modern server's host is asked by answers, and this call has none yet.
  if (is_users && (!host_elicits_ || message.is_modern())) {
    return std::unexpected(nobody_to_ask(*access.asks, server_, era_of(message)));
  }
  const std::string text = edited.flatten();
  ApprovalWaiter& waiter = *this;
  auto approval = gate_.ask({.rule = *access.asks,
                             .method = message.method,
                             .name = access.named,
                             .text = text,
                             .waiter = waiter,
                             .now = now});
  if (!approval || !approval->waits()) return approval;
  effects_.record(
      {.kind = AuditKind::approval, .tool = access.named, .reason = "asked", .bytes = text.size()});
  return approval;
}

void Upstream::ask_user(Call& call, Time now) {
  if (call.approval.entry().request.approver != Approver::user) return;
  call.question = ids_.next();
  server_calls_.open({.own_id = call.question,
                      .question = call.own_id,
                      .caller_id = std::string(nobodys_id),
                      .began = now});
  reply_to_host(
      question(call.question, question_text(call.approval, server_), details(call, server_.name)));
}

// Of a person's word nobody else hears: who asked for progress is told, again and again, so that
// hosts whose patience progress extends do not give up before the person has decided.
void Upstream::notify_waiting(Call& call, Time now) {
  const PendingApproval& entry = call.approval.entry();
  const bool is_told = !call.progress_token.empty() && entry.request.approver == Approver::admin;
  if (!is_told || now < call.unsent->tell_waiting_at) return;
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(entry.until - now);
  reply_to_host(waiting_notification(
      call.progress_token, call.unsent->told_waiting++,
      fmt::format(
          "waits for an administrator's approval (\"cellblock approve allow {}\"), {} s left",
          gate_.approval_id(call.approval), left.count())));
  call.unsent->tell_waiting_at = now + tells_waiting_every;
  wake_for(call, now);
}

// Whatever is not a plain yes is a no.
void Upstream::answer_from_user(std::string_view line, const Message& message, std::uint64_t about,
                                Time now) {
  Call* call = calls_.find(about);
  if (call == nullptr || !call->approval.waits()) return;
  call->question = 0;
  const auto word = says_yes(line, message) ? Approvals::Word::allow : Approvals::Word::deny;
  gate_.answered_by_host(call->approval, word, now);
}

// The host's user is asked no more about what is over.
void Upstream::withdraw_question(const Call& call, std::string_view reason) {
  if (call.question == 0 || !server_calls_.close(std::to_string(call.question))) return;
  reply_to_host(cancelled_notification(call.question, reason));
}

// A name was approved as the thing that it was then: what was accepted under it since is another
// one. Where nothing was known of it, nothing was shown of it.
bool Upstream::is_what_was_shown(const Call& call) const {
  const JudgedCall& judged = *call.unsent->judged;
  return !judged.definition ||
         judged.definition == pins_.definition_of(judged.line, judged.message);
}

// Its rules may have changed while it waited (a session takes a role), and so may its pins: it is
// asked all that it was asked when it came.
bool Upstream::may_still_go(const Call& call, Time now) {
  if (!call.unsent->judged) return true;
  const JudgedCall& judged = *call.unsent->judged;
  const CallAccess access = access_for(judged.line, judged.message);
  if (!access.refusal.empty()) {
    const Call over = *calls_.cancel(call.caller_id);
    reply_to_host(access.refusal);
    note_end(over, AuditOutcome::error, access.rule, access.refusal.size(), now);
    return false;
  }
  auto failure = pins_.refuse_arguments(judged.line, judged.message);
  // Its text was looked through by the old ones, and is sent as it was shown or not at all.
  const bool is_redacted_as_now = judged.redaction == redaction_.revision();
  if (!failure && !is_redacted_as_now) failure = redacted_otherwise(server_);
  if (!failure && !asks_as(access.asks, judged.asks)) failure = asked_otherwise(server_);
  if (!failure && !is_what_was_shown(call)) failure = changed_since_asked(judged.message, server_);
  if (failure) give_up(call, *failure, now);
  return !failure;
}

// One that was is sent as it was shown, and once.
bool Upstream::is_approved(Call& call, Time now) {
  const bool waits = call.approval.waits();
  if (waits && now < call.approval.entry().until) {
    notify_waiting(call, now);
    return false;
  }
  const ApprovalRequest& request = call.approval.entry().request;
  const bool is_allowed = !waits && !call.approval.is_denied();
  effects_.record({.kind = AuditKind::approval,
                   .outcome = is_allowed ? AuditOutcome::ok : AuditOutcome::denied,
                   .tool = request.name,
                   .reason = outcome_of(call.approval),
                   .call = call.own_id});
  withdraw_question(call, "decided");
  call.question = 0;
  if (!is_allowed) {
    give_up(call, not_approved(call.approval, server_), now);
    return false;
  }
  call.approval = {};
  call.began = now;
  call.deadline = deadline_of(call, server_.calls);
  wake_for(call, now);
  return true;
}

}  // namespace cellblock::gateway
