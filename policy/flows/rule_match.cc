#include "policy/flows/rule_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "policy/access/rights.h"
#include "policy/config/words.h"
#include "policy/flows/tool_labels.h"

namespace cellblock {
namespace {

constexpr std::array every_label{FlowLabel::untrusted, FlowLabel::private_data, FlowLabel::egress,
                                 FlowLabel::destructive};

FlowLabels labels_of(std::initializer_list<FlowLabel> list) {
  FlowLabels labels;
  for (const FlowLabel label : list) labels.add(label);
  return labels;
}

// `trifecta` as a rule; nullopt: it is off.
std::optional<FlowRule> preset_rule(const FlowRules& rules) {
  if (rules.trifecta == FlowEffect::off) return std::nullopt;
  return FlowRule{.name = "flows.trifecta",
                  .after = labels_of({FlowLabel::untrusted, FlowLabel::private_data}),
                  .before = labels_of({FlowLabel::egress}),
                  .effect = rules.trifecta,
                  .approver = rules.approver,
                  .approval_time = rules.approval_time,
                  .binds_everybody = true};
}

bool is_stricter(const FlowRule& rule, const FlowRule& other) {
  if (rule.effect != other.effect) return rule.effect > other.effect;
  return rule.effect == FlowEffect::ask && rule.approver == Approver::admin &&
         other.approver == Approver::user;
}

bool binds(const FlowRule& rule, const FlowPerson* person) {
  if (rule.binds_everybody || person == nullptr) return true;
  return is_one_of({person->uid, person->gid, person->groups}, rule.uids, rule.gids);
}

bool names_call(const FlowRule& rule, const FlowTarget& target) {
  if (!names_server(rule, target.server)) return false;
  if (rule.tools.empty()) return true;
  return !target.tool.empty() && std::ranges::any_of(rule.tools, [&](const NamePattern& pattern) {
    return names_tool(pattern, target.tool);
  });
}

std::string_view ability_of(FlowLabel label) {
  switch (label) {
    case FlowLabel::untrusted:
      return "bring in untrusted content";
    case FlowLabel::private_data:
      return "give private data";
    case FlowLabel::egress:
      return "send to others";
    case FlowLabel::destructive:
      break;
  }
  return "delete or overwrite";
}

std::string joined(FlowLabels labels, std::string_view (*text_for)(FlowLabel)) {
  std::vector<std::string_view> texts;
  for (const FlowLabel label : every_label) {
    if (labels.has(label)) texts.push_back(text_for(label));
  }
  return fmt::format("{}", fmt::join(texts, " and "));
}

std::string_view verb_of(FlowEffect effect) {
  if (effect == FlowEffect::deny) return "refuses";
  return effect == FlowEffect::ask ? "asks" : "records";
}

std::string bounds_text(const FlowRule& rule) {
  std::string text;
  if (!rule.servers.empty()) text += fmt::format(", of {}", fmt::join(rule.servers, ", "));
  std::vector<std::string> names;
  names.reserve(rule.tools.size());
  for (const NamePattern& tool : rule.tools) {
    names.push_back(tool.text + (tool.is_prefix ? "*" : ""));
  }
  if (!names.empty()) text += fmt::format(", tools {}", fmt::join(names, ", "));
  if (!rule.binds_everybody) {
    text += fmt::format(", of {} users and {} groups", rule.uids.size(), rule.gids.size());
  }
  return text;
}

std::string later_reason(const FlowRule& rule, const FlowTarget& target) {
  return fmt::format("{} once its context has {}, since this tool{}{}",
                     rule.effect == FlowEffect::deny ? "refuses it" : "asks about it",
                     joined(rule.after, content_text),
                     std::string_view(ability_text(rule.before, target.labels)).substr(2),
                     rule.copied ? ", where its arguments hold text that was read" : "");
}

bool changes(const FlowRule& rule, Effect effect) {
  return rule.effect == FlowEffect::deny ||
         (rule.effect == FlowEffect::ask && effect == Effect::allow);
}

}  // namespace

bool names_server(const FlowRule& rule, std::string_view server) {
  return rule.servers.empty() || std::ranges::find(rule.servers, server) != rule.servers.end();
}

bool follows_text(const FlowRules& rules, FlowLabel label) {
  return std::ranges::any_of(
      rules.rules, [&](const FlowRule& rule) { return rule.copied && rule.after.has(label); });
}

bool concerns(const FlowRule& rule, const FlowTarget& target, const FlowPerson* person) {
  return !rule.before.common(target.labels).empty() && names_call(rule, target) &&
         binds(rule, person);
}

std::optional<FlowRule> strictest_rule(const FlowRules& rules,
                                       const std::function<bool(const FlowRule&)>& applies) {
  std::optional<FlowRule> strictest;
  const auto consider = [&](const FlowRule& rule) {
    if (strictest && !is_stricter(rule, *strictest)) return;
    if (applies(rule)) strictest = rule;
  };
  if (const auto preset = preset_rule(rules)) consider(*preset);
  std::ranges::for_each(rules.rules, consider);
  return strictest;
}

bool flows_may_ask_administrator(const FlowRules& rules, const Server& server,
                                 std::string_view tool, const FlowPerson& person) {
  FlowLabels labels = labels_of_tool(server, tool);
  labels.add(FlowLabel::destructive);
  const auto asks = [&](const FlowRule& rule) {
    return rule.effect == FlowEffect::ask && rule.approver == Approver::admin &&
           concerns(rule, {.server = server.name, .tool = tool, .labels = labels}, &person);
  };
  const auto preset = preset_rule(rules);
  return (preset && asks(*preset)) || std::ranges::any_of(rules.rules, asks);
}

std::string ability_text(FlowLabels before, FlowLabels of_call) {
  return "it can " + joined(before.common(of_call), ability_of);
}

std::string_view content_text(FlowLabel label) {
  return label == FlowLabel::untrusted ? "untrusted content" : "private data";
}

std::string rule_text(const FlowRule& rule) {
  return fmt::format("{} after {}, before {}{}{}", verb_of(rule.effect),
                     joined(rule.after, word_of<FlowLabel>),
                     joined(rule.before, word_of<FlowLabel>), bounds_text(rule),
                     rule.copied ? ", where arguments hold text that was read" : "");
}

std::optional<LaterFlow> later_flow(const FlowRules& rules, const FlowTarget& target,
                                    const FlowPerson& person, Effect effect) {
  if (effect == Effect::deny) return std::nullopt;
  auto strictest = strictest_rule(rules, [&](const FlowRule& rule) {
    return concerns(rule, target, &person) && changes(rule, effect);
  });
  if (!strictest) return std::nullopt;
  const bool is_denied = strictest->effect == FlowEffect::deny;
  std::string reason = later_reason(*strictest, target);
  return LaterFlow{is_denied ? Effect::deny : Effect::ask, *std::move(strictest),
                   std::move(reason)};
}

}  // namespace cellblock
