#include "policy/config_check/flow_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/installation_keys.h"
#include "policy/config/names.h"
#include "policy/config/words.h"
#include "policy/flows/tool_labels.h"

namespace cellblock {
namespace {

constexpr std::size_t most_flow_rules = 64;
constexpr std::size_t most_flow_servers = 256;

constexpr Range<std::chrono::milliseconds> flow_approval_times{std::chrono::seconds{5},
                                                               std::chrono::hours{1}};

constexpr std::array<Choice<FlowEffect>, 3> rule_effects{
    {{"log", FlowEffect::log}, {"ask", FlowEffect::ask}, {"deny", FlowEffect::deny}}};
constexpr std::array<Choice<FlowLabel>, 2> labels_of_context{
    {{word_of(FlowLabel::untrusted), FlowLabel::untrusted},
     {word_of(FlowLabel::private_data), FlowLabel::private_data}}};
constexpr std::array<Choice<FlowLabel>, 4> labels_of_call{
    {{word_of(FlowLabel::untrusted), FlowLabel::untrusted},
     {word_of(FlowLabel::private_data), FlowLabel::private_data},
     {word_of(FlowLabel::egress), FlowLabel::egress},
     {word_of(FlowLabel::destructive), FlowLabel::destructive}}};

/// `after` or `before`: at least one label, none that is not in `known`.
template <std::size_t count>
FlowLabels check_labels(const Scope& scope, std::string_view key, const FlowRuleText& rule,
                        const Maybe<TextList>& text,
                        const std::array<Choice<FlowLabel>, count>& known) {
  FlowLabels labels;
  if (!text) {
    if (!scope.mentioned(key)) scope.error(rule.at, key, "is missing; allowed: a list of labels");
    return labels;
  }
  if (text->value.empty()) scope.error(text->at, key, "is empty; allowed: at least one label");
  for (const TextAt& label : text->value) {
    if (const auto* found = find_choice(scope, key, label, known)) labels.add(found->value);
  }
  return labels;
}

void check_flow_effect(const Scope& scope, const FlowRuleText& text, FlowRule& rule) {
  if (!text.effect) {
    if (scope.mentioned("effect")) return;
    scope.error(text.at, "effect", R"(is missing; allowed: "log", "ask" or "deny")");
    return;
  }
  if (const auto* found = find_choice(scope, "effect", *text.effect, rule_effects)) {
    rule.effect = found->value;
  }
}

// One that asks nobody would be read as one that asks.
void check_flow_approval(const Scope& scope, const FlowRuleText& text, FlowRule& rule) {
  constexpr std::string_view only_of_ask = "is only of effect = \"ask\"; allowed: leave it out";
  if (rule.effect == FlowEffect::ask) {
    check_choice(scope, "approver", text.approver, rule.approver);
    check_duration(scope, "approval_timeout", text.approval_timeout, flow_approval_times,
                   rule.approval_time);
    return;
  }
  if (!text.effect) return;
  if (text.approver) scope.error(text.approver->at, "approver", std::string(only_of_ask));
  if (!text.approval_timeout) return;
  scope.error(text.approval_timeout->at, "approval_timeout", std::string(only_of_ask));
}

// A rule that binds nobody would let everything pass.
void refuse_empty_people(const Scope& scope, const FlowRuleText& text) {
  if (text.users && text.users->value.empty()) {
    scope.error(text.users->at, "users", "is empty; allowed: at least one user, or leave it out");
  }
  if (text.groups && text.groups->value.empty()) {
    scope.error(text.groups->at, "groups",
                "is empty; allowed: at least one group, or leave it out");
  }
}

void check_flow_people(const Scope& scope, const FlowRuleText& text, const Accounts& accounts,
                       FlowRule& rule) {
  refuse_empty_people(scope, text);
  rule.binds_everybody = !text.users && !text.groups;
  if (text.users) rule.uids = check_users(scope, text.users->value, accounts, ListUse::takes);
  if (text.groups) rule.gids = check_groups(scope, text.groups->value, accounts, ListUse::takes);
}

std::vector<std::string> check_flow_servers(const Scope& scope, const FlowRuleText& text) {
  std::vector<std::string> servers;
  if (!text.servers) return servers;
  const std::size_t count = text.servers->value.size();
  if (count == 0 || count > most_flow_servers) {
    scope.error(text.servers->at, "servers",
                fmt::format("has {} entries; allowed: 1 to {}", count, most_flow_servers));
    return servers;
  }
  servers.reserve(count);
  for (const TextAt& name : text.servers->value) {
    if (!is_short_name(name.value)) {
      scope.error(name.at, "servers",
                  fmt::format("\"{}\" is no server name; allowed: [a-z][a-z0-9-]{{0,62}}, "
                              "without *",
                              name.value));
      continue;
    }
    servers.push_back(name.value);
  }
  return servers;
}

std::vector<NamePattern> check_flow_names(const Scope& scope, const FlowRuleText& text) {
  if (!text.tools) return {};
  if (text.tools->value.empty()) {
    scope.error(text.tools->at, "tools", "is empty; allowed: at least one tool, or leave it out");
  }
  return check_patterns(scope, NameKind::tool, text.tools->value);
}

FlowRule check_flow_rule(const Scope& scope, const FlowRuleText& text, const Accounts& accounts) {
  FlowRule rule{.line = text.at.line};
  rule.after = check_labels(scope, "after", text, text.after, labels_of_context);
  rule.before = check_labels(scope, "before", text, text.before, labels_of_call);
  rule.copied = text.copied && text.copied->value;
  check_flow_effect(scope, text, rule);
  check_flow_approval(scope, text, rule);
  check_flow_people(scope, text, accounts, rule);
  rule.servers = check_flow_servers(scope, text);
  rule.tools = check_flow_names(scope, text);
  return rule;
}

std::vector<FlowRule> check_flow_rules(const Scope& scope, const std::vector<FlowRuleText>& texts,
                                       const Accounts& accounts) {
  std::vector<FlowRule> rules;
  if (texts.size() > most_flow_rules) {
    scope.error(texts.back().at, "rule",
                fmt::format("has {} entries; allowed: at most {}", texts.size(), most_flow_rules));
    return rules;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string name = fmt::format("rule[{}]", i + 1);
    FlowRule rule = check_flow_rule(scope.below(name), texts[i], accounts);
    rule.name = scope.prefix + name;
    rules.push_back(std::move(rule));
  }
  return rules;
}

void warn_of_idle_approver(const Scope& scope, const Written& keys, const FlowRules& rules) {
  if (rules.trifecta == FlowEffect::ask) return;
  for (const std::string_view key : {"approver", "approval_timeout"}) {
    if (!keys.has(key)) continue;
    scope.warning(keys.at(key), key, "does nothing without trifecta = \"ask\"");
  }
}

}  // namespace

FlowRules check_flows(Complaints& complaints, const ConfigText& main, const Accounts& accounts) {
  FlowRules rules;
  if (!main.flows) return rules;
  const Scope scope{complaints, main.file, "flows."};
  read_keys(scope, main.flows->keys, rules);
  warn_of_idle_approver(scope, main.flows->keys, rules);
  rules.rules = check_flow_rules(scope, main.flows->rules, accounts);
  return rules;
}

namespace {

bool is_declared(const Config& config, const std::string& server) {
  return std::ranges::find(config.servers, server, &Server::name) != config.servers.end();
}

}  // namespace

// A file in servers.d may come later: nothing is refused for it.
void warn_of_flow_servers(Complaints& complaints, const ConfigText& main, const Config& config) {
  const Scope scope{complaints, main.file, ""};
  for (const FlowRule& rule : config.flows.rules) {
    for (const std::string& name : rule.servers) {
      if (is_declared(config, name)) continue;
      scope.warning({rule.line, 1}, rule.name + ".servers",
                    fmt::format("there is no server \"{}\"; allowed: a declared one", name));
    }
  }
}

namespace {

std::optional<std::vector<NamePattern>> check_list(const Scope& scope, std::string_view key,
                                                   const Maybe<TextList>& text) {
  if (!text) return std::nullopt;
  return check_patterns(scope, NameKind::tool, text->value, key);
}

// A program is nobody's data, though its cell sees it as it sees what is.
bool sees_its_program_alone(const ServerText& text, const Server& server) {
  return !server.binds.empty() && text.read.empty() && text.write.empty() &&
         text.home_files.empty() && !server.workspace && server.secrets.empty();
}

FlowTools declared_tools(const Scope& scope, const ServerText& text, const Server& server) {
  if (!text.flows) return {};
  const Scope here = scope.below("flows");
  FlowTools tools{.untrusted = check_list(here, "untrusted", text.flows->untrusted),
                  .private_data = check_list(here, "private", text.flows->private_data),
                  .egress = check_list(here, "egress", text.flows->egress),
                  .destructive = check_list(here, "destructive", text.flows->destructive)};
  if (tools.egress && !tools.egress->empty() && !can_send(server)) {
    here.warning(text.flows->egress->at, "egress",
                 "does nothing: a cell with this network sends nothing to others");
  }
  return tools;
}

}  // namespace

FlowTools check_flow_tools(const Scope& scope, const ServerText& text, const Server& server) {
  FlowTools tools = declared_tools(scope, text, server);
  tools.sees_program_alone = sees_its_program_alone(text, server);
  return tools;
}

}  // namespace cellblock
