#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "policy/flows/tool_labels.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/upstream/call_failures.h"
#include "supervisor/gateway/upstream/new_call.h"
#include "supervisor/gateway/upstream/upstream.h"

/// One call of the host's: its place, its record, its time, and every end but the server's answer.
namespace cellblock::gateway {

namespace {

using wire::AuditKind;
using wire::AuditOutcome;

std::uint64_t microseconds_since(Time began, Time now) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now - began).count());
}

wire::AuditMethod method_of(CallKind kind) {
  if (kind == CallKind::resource_read) return wire::AuditMethod::resources_read;
  return kind == CallKind::prompt_get ? wire::AuditMethod::prompts_get
                                      : wire::AuditMethod::tools_call;
}

std::string_view name_in_log(const Call& call) {
  return call.tool.empty() ? call.named : call.tool;
}

}  // namespace

// --- its way to the server -----------------------------------------------------------------------

void Upstream::begin(Call call, UnsentCall unsent, const EditedMessage& edited, Time now) {
  if (!call.approval.is_needed()) call.deadline = deadline_of(call, server_.calls);
  wake_for(call, now);
  // One that was allowed beforehand is looked at like those that were allowed meanwhile.
  const bool waits = call.place.waits() || call.approval.is_needed();
  if (!is_recorded(call.kind) && !waits) {
    ++traffic_.calls;
    calls_.open(std::move(call));
    return effects_.to_cell(edited.slices());
  }
  unsent.text = edited.flatten();
  call.unsent = std::make_unique<UnsentCall>(std::move(unsent));
  call.is_sent = false;
  const std::uint64_t own_id = call.own_id;
  calls_.open(std::move(call));
  Call& opened = *calls_.find(own_id);
  if (!waits) return go_on(opened);
  if (!opened.approval.waits()) return;
  ask_user(opened, now);
  notify_waiting(opened, now);
}

// From here on it is recorded, and has an end in the log.
void Upstream::go_on(Call& call) {
  const std::unique_ptr<UnsentCall> unsent = std::move(call.unsent);
  ++traffic_.calls;
  if (!is_recorded(call.kind)) {
    call.is_sent = true;
    return effects_.to_cell(std::array<std::string_view, 1>{unsent->text});
  }
  effects_.record({.kind = AuditKind::call,
                   .outcome = AuditOutcome::ok,
                   .tool = name_in_log(call),
                   .reason = unsent->rule,
                   .call = call.own_id,
                   .bytes = unsent->bytes,
                   .arguments = unsent->arguments,
                   .method = method_of(call.kind),
                   .traceparent = call.traceparent,
                   .text = unsent->argument_text});
  note_flow(call, name_in_log(call));
  send_when_recorded(call.own_id, std::move(unsent->text));
}

// What it brings is known to the agent from now on, whatever becomes of it.
void Upstream::note_flow(const Call& call, std::string_view name) {
  const FlowLabels fresh = flows_.made(call.kind, name, call.own_id);
  for (const FlowLabel label : {FlowLabel::untrusted, FlowLabel::private_data}) {
    if (!fresh.has(label)) continue;
    effects_.record(
        {.kind = AuditKind::flow, .tool = name, .reason = name_of(label), .call = call.own_id});
  }
}

// Nothing is called that is not in the log: whatever is answered is recorded.
void Upstream::send_when_recorded(std::uint64_t own_id, std::string text) {
  effects_.when_recorded([this, here = std::weak_ptr(here_), own_id, text = std::move(text)](
                             AuditState log, Time now) {
    if (!here.expired()) send_recorded(own_id, text, log, now);
  });
}

void Upstream::send_recorded(std::uint64_t own_id, std::string_view text, AuditState log,
                             Time now) {
  Call* call = calls_.find(own_id);
  if (call == nullptr) return;  // cancelled, or failed
  if (log == AuditState::broken) {
    fail(std::to_string(own_id), audit_failure(server_), now);
    return;
  }
  call->is_sent = true;
  effects_.to_cell(std::array{text});
}

// --- its time ------------------------------------------------------------------------------------

// From inside whatever freed it, which may be in the middle of another upstream's work.
void Upstream::place_is_free() {
  wakes_ = Time::min();
  effects_.wake_in(Milliseconds{0});
}

void Upstream::woken(Time now) {
  wakes_.reset();
  for (const std::uint64_t own_id : calls_.ids()) {
    if (Call* call = calls_.find(own_id)) look_at(*call, now);
  }
  wake_for_all(now);
}

void Upstream::look_at(Call& call, Time now) {
  const bool waits = call.place.waits();
  if (waits && now >= call.place.until()) {
    return give_up(call, busy_failure(call.place.waited(), server_, call.tool), now);
  }
  if (call.deadline.is_over(now, clock())) {
    return give_up(call, timeout_failure(call, server_, effects_.network_advice(call.began), now),
                   now);
  }
  if (call.approval.is_needed() && !is_approved(call, now)) return;
  if (call.unsent && !waits && may_still_go(call, now)) go_on(call);
}

bool Upstream::is_at_rest(Time now) const {
  const bool asks = std::ranges::any_of(server_calls_.all(), &Call::is_for_somebody);
  return in_flight() == 0 && !asks && !open_tasks_.any(now) && !values_.is_question_open(now);
}

// What still comes of it is late.
void Upstream::give_up(const Call& call, const Failure& failure, Time now) {
  const Call over = *calls_.cancel(call.caller_id);
  if (over.is_sent) reply_to_cell(cancelled_notification(over.own_id, name_of(failure.code)));
  answer(over, failure, now);
}

// Questions of ours hold nobody up but the call that they are about, which has no deadline yet.
CallClock Upstream::clock() const {
  const bool asked =
      std::ranges::any_of(server_calls_.all(), [](const Call& call) { return call.question == 0; });
  return asked ? CallClock::stands : CallClock::runs;
}

void Upstream::watch_clock(Time now) {
  const bool stands = clock() == CallClock::stands;
  if (stands == stood_since_.has_value()) return;
  if (stands) {
    stood_since_ = now;
    return;
  }
  for (Call& call : calls_.all()) {
    call.deadline.hold_up(now - std::max(*stood_since_, call.began));
  }
  stood_since_.reset();
  wake_for_all(now);
}

// Only where it would ring too late: most calls are answered long before anything is due, and one
// alarm in a while is all that they cost.
void Upstream::wake_for(const Call& call, Time now) {
  auto due = call.deadline.next(clock());
  const auto at_latest = [&due](Time when) { due = due ? std::min(*due, when) : when; };
  if (call.place.waits()) at_latest(call.place.until());
  if (call.approval.waits()) at_latest(call.approval.entry().until);
  if (call.unsent && call.unsent->told_waiting > 0) at_latest(call.unsent->tell_waiting_at);
  if (!due || (wakes_ && *wakes_ <= *due)) return;
  wakes_ = due;
  effects_.wake_in(std::chrono::ceil<Milliseconds>(std::max(*due - now, Time::duration::zero())));
}

void Upstream::wake_for_all(Time now) {
  for (const Call& call : calls_.all()) wake_for(call, now);
}

// --- its ends ------------------------------------------------------------------------------------

void Upstream::fail_all(const Failure& failure, Time now) {
  for (const Call& call : calls_.take_all()) answer(call, failure, now);
}

bool Upstream::fail(std::string_view own_id, const Failure& failure, Time now) {
  const auto call = calls_.close(own_id);
  if (call) answer(*call, failure, now);
  return call.has_value();
}

void Upstream::answer(const Call& call, const Failure& failure, Time now) {
  withdraw_question(call, name_of(failure.code));
  const std::string reply = failed_reply(call.caller_id, call.kind, call.era, failure);
  reply_to_host(reply);
  note_end(call, AuditOutcome::error, name_of(failure.code), reply.size(), now);
}

void Upstream::cancel_all(std::string_view reason, Time now) {
  for (const Call& call : calls_.take_all()) {
    withdraw_question(call, reason);
    const bool is_known = call.is_sent && call.kind != CallKind::initialize;
    if (is_known) reply_to_cell(cancelled_notification(call.own_id, reason));
    note_end(call, AuditOutcome::cancelled, reason, 0, now);
  }
}

void Upstream::forget(std::string_view caller_id, std::string_view reason, Time now) {
  const auto call = calls_.cancel(caller_id);
  if (!call) return;
  withdraw_question(*call, reason);
  if (!call->unsent) note_end(*call, AuditOutcome::error, reason, 0, now);
}

// What never came as far as its record is refused instead.
void Upstream::note_end(const Call& call, AuditOutcome outcome, std::string_view reason,
                        std::size_t bytes, Time now) {
  if (!is_recorded(call.kind)) return;
  const bool is_refused = call.unsent && outcome == AuditOutcome::error;
  effects_.record({.kind = call.unsent ? AuditKind::call : AuditKind::call_ended,
                   .outcome = is_refused ? AuditOutcome::denied : outcome,
                   .tool = name_in_log(call),
                   .reason = reason,
                   .call = call.own_id,
                   .bytes = bytes,
                   .microseconds = microseconds_since(call.began, now),
                   .method = method_of(call.kind),
                   .traceparent = call.traceparent});
}

}  // namespace cellblock::gateway
