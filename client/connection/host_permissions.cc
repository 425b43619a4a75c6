#include "client/connection/host_permissions.h"

#include <fmt/format.h>

#include <utility>

#include "client/connection/handler_failure.h"
#include "client/connection/rpc_text.h"
#include "policy/access/resource_uri.h"
#include "policy/access/rights.h"
#include "policy/base/result.h"
#include "policy/json/json_text.h"
#include "policy/mcp/control_methods.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {
namespace {

// What has no kind of its own is named by its method, as a feature is.
AccessKind access_kind(CallKind kind) {
  switch (kind) {
    case CallKind::tool:
      return AccessKind::tool;
    case CallKind::resource:
      return AccessKind::resource;
    case CallKind::prompt:
      return AccessKind::prompt;
    case CallKind::other:
      break;
  }
  return AccessKind::feature;
}

std::vector<NamePattern>& patterns_of(Rule& rule, CallKind kind) {
  switch (kind) {
    case CallKind::tool:
      return rule.tools;
    case CallKind::resource:
      return rule.resources;
    case CallKind::prompt:
      return rule.prompts;
    case CallKind::other:
      break;
  }
  return rule.features;
}

Effect effect_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::allow:
      return Effect::allow;
    case Verdict::ask:
      return Effect::ask;
    case Verdict::deny:
      break;
  }
  return Effect::deny;
}

Rule as_rule(const PermissionRule& rule) {
  Rule made{.effect = effect_of(rule.verdict), .binds_everybody = true};
  const bool is_prefix = rule.name.ends_with('*');
  const auto name = rule.name.substr(0, rule.name.size() - (is_prefix ? 1 : 0));
  patterns_of(made, rule.kind) = {rule.kind == CallKind::resource ? uri_pattern(name, is_prefix)
                                                                  : NamePattern{name, is_prefix}};
  return made;
}

std::string name_in(const Message& message, std::string_view line, CallKind kind) {
  switch (kind) {
    case CallKind::tool:
    case CallKind::prompt:
      return message.name_text;
    case CallKind::resource:
      return decoded(message.uri.in(line));
    case CallKind::other:
      break;
  }
  return message.method;
}

}  // namespace

CallKind kind_of(std::string_view method) {
  if (method == mcp::method::tools_call) return CallKind::tool;
  if (method == mcp::method::prompts_get) return CallKind::prompt;
  if (method == mcp::method::resources_read || method == mcp::method::resources_subscribe) {
    return CallKind::resource;
  }
  return CallKind::other;
}

bool needs_permission(std::string_view method) {
  if (method.starts_with(control_method::prefix)) return false;
  const auto* const known = mcp::find_method(method);
  if (known == nullptr) return true;
  if (known->feature == mcp::Feature::lifecycle || known->feature == mcp::Feature::logging) {
    return false;
  }
  return !method.ends_with("/list");
}

HostPermissions::HostPermissions(PermissionRules rules, PermissionHandler handler)
    : rules_(std::move(rules)), handler_(std::move(handler)) {}

Result<CallToApprove> HostPermissions::read(std::string_view server, std::string_view method,
                                            std::string_view params) {
  auto line = request_line("0", method, params);
  const auto length = line.size() - 1;
  line.append(MessageScanner::padding, ' ');
  const auto text = std::string_view(line).substr(0, length);
  const auto message = scanner_.scan(text);
  if (!message) {
    return std::unexpected(Error{
        .code = ErrorCode::invalid_argument,
        .text = fmt::format("not a request that can be sent: {}", explain(message.error().fault))});
  }
  const auto kind = kind_of(method);
  const bool has_arguments = kind == CallKind::tool || kind == CallKind::prompt;
  // Who is asked in C would be shown what stands before it.
  if (name_in(*message, text, kind).contains('\0')) {
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .text = "a name with a zero byte is none that can be called"});
  }
  return CallToApprove{.server = std::string(server),
                       .kind = kind,
                       .method = std::string(method),
                       .name = name_in(*message, text, kind),
                       .arguments = std::string(has_arguments ? raw_member(params, "arguments")
                                                              : std::string_view()),
                       .params = std::string(params)};
}

Decision HostPermissions::by_rules(const CallToApprove& call) const {
  std::vector<Rule> rules;
  std::vector<const PermissionRule*> origins;
  for (const auto& rule : rules_.rules) {
    if (!rule.server.empty() && rule.server != call.server) continue;
    rules.push_back(as_rule(rule));
    origins.push_back(&rule);
  }
  const auto verdict =
      Rights(rules, {}).decide({.kind = access_kind(call.kind), .name = call.name});
  if (verdict.rule == nullptr) return {.verdict = rules_.otherwise};
  const auto* const origin = origins.at(static_cast<std::size_t>(verdict.rule - rules.data()));
  return {.verdict = origin->verdict, .reason = origin->reason};
}

Result<Judged> HostPermissions::judge(std::string_view server, std::string_view method,
                                      std::string_view params) {
  const bool is_open = rules_.rules.empty() && rules_.otherwise == Verdict::allow && !handler_;
  if (is_open || !needs_permission(method)) return Judged{.decision = Decision::allow()};
  auto call = CELLBLOCK_TRY(read(server, method, params));
  auto decision = by_rules(call);
  std::optional<Error> failure;
  if (handler_ && decision.verdict != Verdict::deny) {
    Decision said;
    failure = failure_of("on_permission", [&] { said = handler_(call); });
    if (failure) said = Decision::deny(failure->text);
    if (said.verdict > decision.verdict) decision = std::move(said);
  }
  call.reason = decision.reason;
  return Judged{
      .decision = std::move(decision), .call = std::move(call), .failure = std::move(failure)};
}

}  // namespace cellblock::client
