#include "supervisor/gateway/checks/flow_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "policy/failures/failure.h"
#include "policy/flows/tool_labels.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

std::string name_in(std::string_view line, const Message& message, CallKind kind) {
  return kind == CallKind::resource_read ? read_string(message.uri.in(line)) : message.name_text;
}

Failure refused_flow(const FlowVerdict& verdict, const Server& server) {
  const std::string& rule = verdict.rule.name;
  Failure failure =
      plain_failure(FailureCode::denied, fmt::format("{} ({})", verdict.why, rule), server.name);
  failure.advice = fmt::format(
      "{}; ask your user, who can begin a new context (a host that starts "
      "`cellblock connect --label context=NAME`, or a session {} minutes after the last "
      "one of this context has ended), or an administrator, whose keys are {} in [flows] and "
      "the lists of [server.{}.flows]",
      verdict.rule.copied ? "arguments that repeat nothing that was read are let pass"
                          : "other arguments do not help",
      FlowContexts::lingers.count(), rule.substr(rule.find('.') + 1), server.name);
  return failure;
}

// The part of a request that may carry text to the server: for a read or a prompt, its name too.
std::string_view said_by(std::string_view line, const Message& message, CallKind kind) {
  return kind == CallKind::tool_call ? message.arguments.in(line) : message.params.in(line);
}

// Of two that ask, the one that asks an administrator: a user must not approve in its place.
bool asks_before(const FlowRule& rule, const Rule* asks) {
  return asks == nullptr || (asks->approver == Approver::user && rule.approver == Approver::admin);
}

bool judges_destructive(const FlowRules& rules) {
  return std::ranges::any_of(
      rules.rules, [](const FlowRule& rule) { return rule.before.has(FlowLabel::destructive); });
}

}  // namespace

void FlowGate::judge(std::string_view line, const Message& message, CallAccess& access) {
  if (is_off(contexts_.rules()) || !access.refusal.empty()) return;
  const CallKind kind = kind_of(message.method);
  if (!is_recorded(kind)) return;
  std::string name = name_in(line, message, kind);
  const bool is_tool = kind == CallKind::tool_call;
  FlowLabels labels = labels_of(kind, name);
  if (is_tool) add_annotated(name, labels);
  const auto verdict = contexts_.judge(
      {.session = session_,
       .target = {.server = server_.name, .tool = is_tool ? name : "", .labels = labels},
       .arguments = said_by(line, message, kind)});
  if (!verdict) return;
  rule_ = verdict->rule.name;
  access.flow = verdict->rule.effect;
  access.flow_rule = rule_;
  if (access.flow == FlowEffect::deny) {
    access.rule = rule_;
    access.refusal =
        failed_reply(message.id.in(line), kind, era_of(message), refused_flow(*verdict, server_));
  } else if (access.flow == FlowEffect::ask && asks_before(verdict->rule, access.asks)) {
    asks_ = {.name = fmt::format("{}: {}", rule_, verdict->why),
             .line = verdict->rule.line,
             .effect = Effect::ask,
             .approver = verdict->rule.approver,
             .approval_time = verdict->rule.approval_time};
    access.asks = &asks_;
  }
  access.named = std::move(name);
}

FlowLabels FlowGate::made(CallKind kind, std::string_view name, std::uint64_t call) {
  const FlowLabels fresh =
      contexts_.take({.session = session_, .call = call, .server = server_.name, .name = name},
                     labels_of(kind, name));
  return is_off(contexts_.rules()) ? FlowLabels() : fresh;
}

// Lists and the server's introduction have no label.
void FlowGate::answered(CallKind kind, std::string_view name, std::string_view line) {
  const bool is_of_task = kind == CallKind::task_result || kind == CallKind::task_state;
  if (contexts_.rules().rules.empty() || (!is_recorded(kind) && !is_of_task)) return;
  contexts_.read(session_, labels_of(kind, name), line);
}

FlowLabels FlowGate::labels_of(CallKind kind, std::string_view name) const {
  return kind == CallKind::tool_call ? labels_of_tool(server_, name) : labels_of_content(server_);
}

// A server's annotation adds a label, and removes none.
void FlowGate::add_annotated(std::string_view tool, FlowLabels& labels) const {
  if (!judges_destructive(contexts_.rules()) || labels.has(FlowLabel::destructive)) return;
  if (pins_.calls_itself_destructive(tool)) labels.add(FlowLabel::destructive);
}

}  // namespace cellblock::gateway
