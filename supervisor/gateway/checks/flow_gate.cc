#include "supervisor/gateway/checks/flow_gate.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "policy/failures/failure.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

std::string name_in(std::string_view line, const Message& message, CallKind kind) {
  return kind == CallKind::resource_read ? read_string(message.uri.in(line)) : message.name_text;
}

Failure refused_flow(const std::string& why, const Server& server) {
  Failure failure = plain_failure(FailureCode::denied,
                                  fmt::format("{} ({})", why, FlowGate::rule_name), server.name);
  failure.advice = fmt::format(
      "other arguments do not help; ask your user, who can begin a new context (a host that starts "
      "`cellblock connect --label context=NAME`, or a session {} minutes after the last "
      "one of this context has ended), or an administrator, whose keys are trifecta in [flows] and "
      "the lists "
      "of [server.{}.flows]",
      FlowContexts::lingers.count(), server.name);
  return failure;
}

}  // namespace

void FlowGate::judge(std::string_view line, const Message& message, CallAccess& access) {
  const FlowRules& rules = contexts_.rules();
  if (rules.trifecta == FlowEffect::off || !access.refusal.empty()) return;
  const CallKind kind = kind_of(message.method);
  if (!is_recorded(kind)) return;
  std::string name = name_in(line, message, kind);
  const auto why = contexts_.trifecta(session_, labels_of(kind, name));
  if (!why) return;
  access.flow = rules.trifecta;
  if (rules.trifecta == FlowEffect::deny) {
    access.rule = rule_name;
    access.refusal =
        failed_reply(message.id.in(line), kind, era_of(message), refused_flow(*why, server_));
  } else if (rules.trifecta == FlowEffect::ask && access.asks == nullptr) {
    asks_ = {.name = fmt::format("{}: {}", rule_name, *why),
             .effect = Effect::ask,
             .approver = rules.approver,
             .approval_time = rules.approval_time};
    access.asks = &asks_;
  }
  access.named = std::move(name);
}

FlowLabels FlowGate::made(CallKind kind, std::string_view name, std::uint64_t call) {
  const FlowLabels fresh =
      contexts_.take({.session = session_, .call = call, .server = server_.name, .name = name},
                     labels_of(kind, name));
  return contexts_.rules().trifecta == FlowEffect::off ? FlowLabels() : fresh;
}

FlowLabels FlowGate::labels_of(CallKind kind, std::string_view name) const {
  return kind == CallKind::tool_call ? labels_of_tool(server_, name) : labels_of_content(server_);
}

}  // namespace cellblock::gateway
