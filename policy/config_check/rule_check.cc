#include "policy/config_check/rule_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "policy/access/condition_match.h"
#include "policy/config/path_rules.h"
#include "policy/config_check/value_check.h"

namespace cellblock {
namespace {

constexpr std::size_t most_conditions = 64;
constexpr std::size_t most_values = 256;
constexpr std::string_view forms =
    "one of { equals = ... }, { one_of = [...] }, { min = ..., max = ... }, { below = \"/...\" }, "
    "{ any = true }, each with or without optional = true";

// As the arguments are read: what could be rounded is compared with nothing.
std::optional<double> number_of(const ScalarText& text) {
  if (const auto* integer = std::get_if<std::int64_t>(&text)) {
    return exact_number(fmt::format("{}", *integer));
  }
  const double value = std::get<double>(text);
  return std::isfinite(value) ? exact_number(fmt::format("{}", value)) : std::nullopt;
}

std::optional<Scalar> scalar_of(const Scope& scope, std::string_view key,
                                const Located<ScalarText>& text) {
  if (const auto* words = std::get_if<std::string>(&text.value)) {
    return Scalar{.kind = ScalarKind::text, .text = *words};
  }
  if (const auto* boolean = std::get_if<bool>(&text.value)) {
    return Scalar{.kind = ScalarKind::boolean, .boolean = *boolean};
  }
  if (const auto number = number_of(text.value)) {
    return Scalar{.kind = ScalarKind::number, .number = *number};
  }
  scope.error(text.at, key,
              "is no number that all parsers agree on; allowed: integers of at most "
              "2^53-1, or 15 digits");
  return std::nullopt;
}

void check_values(const Scope& scope, const ConditionText& text, Condition& condition) {
  if (text.equals) {
    if (auto scalar = scalar_of(scope, "equals", *text.equals))
      condition.one_of = {std::move(*scalar)};
    return;
  }
  if (text.one_of->value.empty() || text.one_of->value.size() > most_values) {
    scope.error(
        text.one_of->at, "one_of",
        fmt::format("has {} values; allowed: 1 to {}", text.one_of->value.size(), most_values));
    return;
  }
  for (const auto& value : text.one_of->value) {
    if (auto scalar = scalar_of(scope, "one_of", value))
      condition.one_of.push_back(std::move(*scalar));
  }
}

void check_range(const Scope& scope, const ConditionText& text, Condition& condition) {
  condition.kind = ConditionKind::range;
  for (const auto& [key, bound, out] : {std::tuple{"min", &text.min, &condition.min},
                                        std::tuple{"max", &text.max, &condition.max}}) {
    if (!*bound) continue;
    *out = number_of(ScalarText((*bound)->value));
    if (!*out) {
      scope.error((*bound)->at, key,
                  "is no number that all parsers agree on; allowed: at most 15 digits");
    }
  }
  if (condition.min && condition.max && *condition.min > *condition.max) {
    scope.error(text.min->at, "min",
                "is above max, so that nothing is between; allowed: min at "
                "most max");
  }
}

void check_below(const Scope& scope, const Located<std::string>& text, Condition& condition) {
  condition.kind = ConditionKind::below;
  condition.below = text.value;
  if (const auto problem = path_problem(text.value)) {
    scope.error(text.at, "below", fmt::format("\"{}\" {}", text.value, *problem));
  }
}

std::size_t forms_in(const ConditionText& text) {
  return (text.equals ? 1U : 0U) + (text.one_of ? 1U : 0U) + (text.min || text.max ? 1U : 0U) +
         (text.below ? 1U : 0U) + (text.any ? 1U : 0U);
}

std::string form_fault(const ConditionText& text) {
  const std::size_t count = forms_in(text);
  if (count > 1) return fmt::format("has {} conditions at once", count);
  return count == 1 && (!text.any || text.any->value) ? "" : "says not what may be there";
}

Condition check_condition(const Scope& scope, const ConditionText& text) {
  Condition condition{.argument = text.name.value};
  condition.is_optional = text.optional && text.optional->value;
  if (const auto fault = form_fault(text); !fault.empty()) {
    scope.error(text.name.at, text.name.value, fmt::format("{}; allowed: {}", fault, forms));
    return condition;
  }
  const Scope here = scope.below(text.name.value);
  if (text.equals || text.one_of) {
    condition.kind = ConditionKind::one_of;
    check_values(here, text, condition);
  }
  if (text.min || text.max) check_range(here, text, condition);
  if (text.below) check_below(here, *text.below, condition);
  return condition;
}

// `arguments` of a rule. `scope` is the rule's.
std::vector<Condition> check_conditions(const Scope& scope,
                                        const std::vector<ConditionText>& texts) {
  std::vector<Condition> conditions;
  if (texts.size() > most_conditions) {
    scope.error(texts.front().name.at, "arguments",
                fmt::format("has {} entries; allowed: at most {}", texts.size(), most_conditions));
    return conditions;
  }
  const Scope here = scope.below("arguments");
  for (const ConditionText& text : texts) {
    conditions.push_back(check_condition(here, text));
  }
  return conditions;
}

constexpr std::size_t most_rules = 256;

constexpr Range<std::chrono::milliseconds> approval_times{std::chrono::seconds{5},
                                                          std::chrono::hours{1}};

/// Whether it is known.
bool check_effect(const Scope& scope, const RuleText& text, Rule& rule) {
  const std::size_t errors_before = scope.complaints.error_count();
  if (!text.effect && !scope.mentioned("effect")) {
    scope.error(text.at, "effect", "is missing; allowed: \"allow\", \"ask\" or \"deny\"");
  }
  check_choice(scope, "effect", text.effect, rule.effect);
  return text.effect && scope.complaints.error_count() == errors_before;
}

// One that asks nobody would be read as one that asks.
void check_approval(const Scope& scope, const RuleText& text, Rule& rule) {
  constexpr std::string_view only_of_ask = "is only of effect = \"ask\"; allowed: leave it out";
  if (rule.effect != Effect::ask) {
    if (text.approver) scope.error(text.approver->at, "approver", std::string(only_of_ask));
    if (text.approval_timeout) {
      scope.error(text.approval_timeout->at, "approval_timeout", std::string(only_of_ask));
    }
    return;
  }
  check_choice(scope, "approver", text.approver, rule.approver);
  check_duration(scope, "approval_timeout", text.approval_timeout, approval_times,
                 rule.approval_time);
}

// A rule that denies or asks, and passes over somebody whom it means, would let him through.
void read_who(const Scope& scope, const RuleText& text, const std::vector<Role>& roles,
              const Accounts& accounts, Rule& rule) {
  const ListUse use = rule.effect == Effect::allow ? ListUse::gives : ListUse::takes;
  if (text.users) rule.uids = check_users(scope, text.users->value, accounts, use);
  if (text.groups) rule.gids = check_groups(scope, text.groups->value, accounts, use);
  if (text.roles) rule.roles = check_role_names(scope, text.roles->value, roles, use);
}

// Nobody is meant by leaving them out, but by a rule that only takes: there that is the safe side.
void check_who(const Scope& scope, const RuleText& text, Rule& rule) {
  if (text.users || text.groups || text.roles) return;
  rule.binds_everybody = rule.effect == Effect::deny;
  if (rule.binds_everybody || scope.mentioned("users")) return;
  scope.error(text.at, "users",
              "is missing, as are groups and roles; allowed: at least one of them (only a deny "
              "may leave all out, and binds everybody)");
}

std::vector<NamePattern> names_of(const Scope& scope, NameKind kind, const Maybe<TextList>& text) {
  return text ? check_patterns(scope, kind, text->value) : std::vector<NamePattern>{};
}

void read_what(const Scope& scope, const RuleText& text, Rule& rule) {
  rule.tools = names_of(scope, NameKind::tool, text.tools);
  rule.resources = names_of(scope, NameKind::resource, text.resources);
  rule.prompts = names_of(scope, NameKind::prompt, text.prompts);
  rule.features = names_of(scope, NameKind::feature, text.features);
}

void check_what(const Scope& scope, const RuleText& text, Rule& rule) {
  if (text.tools || text.resources || text.prompts || text.features) return;
  rule.is_about_everything = rule.effect == Effect::deny && text.arguments.empty();
  if (rule.is_about_everything || scope.mentioned("tools")) return;
  scope.error(text.at, "tools",
              "is missing, as are resources, prompts and features; allowed: at least one of them "
              "(only a deny may leave all out, and is about the whole server)");
}

void check_arguments(const Scope& scope, const RuleText& text, Rule& rule) {
  rule.arguments = check_conditions(scope, text.arguments);
  if (rule.arguments.empty()) return;
  if (text.resources || text.prompts || text.features) {
    scope.error(text.at, "arguments",
                "are those of tools; allowed: a rule of its own for resources, prompts and "
                "features");
  }
}

Rule check_rule(const Scope& scope, const RuleText& text, const std::vector<Role>& roles,
                const Accounts& accounts) {
  Rule rule;
  rule.line = text.at.line;
  const bool is_known = check_effect(scope, text, rule);
  read_who(scope, text, roles, accounts, rule);
  read_what(scope, text, rule);
  check_arguments(scope, text, rule);
  if (!is_known) return rule;  // what has to be there, or may not be, depends on it
  check_approval(scope, text, rule);
  check_who(scope, text, rule);
  check_what(scope, text, rule);
  return rule;
}

}  // namespace

std::vector<Rule> check_rules(const Scope& scope, const ServerText& text,
                              const std::vector<Role>& roles, const Accounts& accounts) {
  std::vector<Rule> rules;
  if (auto allow = check_allow(scope, text, accounts)) rules.push_back(std::move(*allow));
  if (text.rules.size() > most_rules) {
    scope.error(text.rules.back().at, "rule",
                fmt::format("has {} entries; allowed: at most {}", text.rules.size(), most_rules));
    return rules;
  }
  for (std::size_t i = 0; i < text.rules.size(); ++i) {
    std::string name = fmt::format("rule[{}]", i + 1);
    Rule rule = check_rule(scope.below(name), text.rules[i], roles, accounts);
    rule.name = std::move(name);
    rules.push_back(std::move(rule));
  }
  return rules;
}

namespace {

using Ids = std::vector<std::uint32_t>;
using Patterns = std::vector<NamePattern>;

struct List {
  std::string_view key;
  Patterns Rule::* names;
};
constexpr std::array<List, 4> lists{{{"tools", &Rule::tools},
                                     {"resources", &Rule::resources},
                                     {"prompts", &Rule::prompts},
                                     {"features", &Rule::features}}};

bool names_nobody(const Rule& rule) {
  return !rule.binds_everybody && rule.uids.empty() && rule.gids.empty() && rule.roles == 0;
}

bool names_nothing(const Rule& rule) {
  return !rule.is_about_everything &&
         std::ranges::all_of(lists, [&](const List& l) { return (rule.*l.names).empty(); });
}

bool holds_all(const Ids& all, const Ids& some) {
  return std::ranges::all_of(
      some, [&](std::uint32_t id) { return std::ranges::find(all, id) != all.end(); });
}

bool binds_all_of(const Rule& deny, const Rule& rule) {
  if (deny.binds_everybody) return true;
  return holds_all(deny.uids, rule.uids) && holds_all(deny.gids, rule.gids) &&
         (rule.roles & ~deny.roles) == 0;
}

bool covers(const NamePattern& wide, const NamePattern& narrow) {
  return wide.is_prefix ? narrow.text.starts_with(wide.text) : wide == narrow;
}

bool denies(const Rule& deny, const List& list, const NamePattern& pattern) {
  return deny.is_about_everything || std::ranges::any_of(deny.*list.names, [&](const auto& wide) {
           return covers(wide, pattern);
         });
}

/// The one that denies this name to all whom `rule` gives it; null: none.
const Rule* denier_of(const Server& server, const Rule& rule, const List& list,
                      const NamePattern& pattern) {
  const auto found = std::ranges::find_if(server.rules, [&](const Rule& deny) {
    return deny.effect == Effect::deny && deny.arguments.empty() && binds_all_of(deny, rule) &&
           denies(deny, list, pattern);
  });
  return found == server.rules.end() ? nullptr : &*found;
}

void warn_of_denied(const Scope& scope, const Server& server, const Rule& rule) {
  for (const List& list : lists) {
    for (const NamePattern& pattern : rule.*list.names) {
      const Rule* denier = denier_of(server, rule, list, pattern);
      if (denier == nullptr) continue;
      // The short form gives these without having been asked to.
      if (rule.name == "allow" && list.names != &Rule::tools) continue;
      scope.warning({rule.line, 1}, fmt::format("{}.{}", rule.name, list.key),
                    fmt::format("\"{}{}\" can never match: {} (line {}) denies it", pattern.text,
                                pattern.is_prefix ? "*" : "", denier->name, denier->line));
    }
  }
}

void warn_of_features(const Scope& scope, const Server& server, const Rule& rule) {
  if (rule.name == "allow" || rule.effect == Effect::deny) return;
  const ClientFeatures& has = server.client_features;
  for (const NamePattern& feature : rule.features) {
    const bool is_there = feature.is_prefix || (feature.text == "roots" && has.roots) ||
                          (feature.text == "sampling" && has.sampling) ||
                          (feature.text == "elicitation" && has.elicitation);
    if (is_there) continue;
    scope.warning(
        {rule.line, 1}, rule.name + ".features",
        fmt::format("\"{}\" can never match: client_features does not name it", feature.text));
  }
}

void warn_of_rule(const Scope& scope, const Server& server, const Rule& rule) {
  const Place at{rule.line, 1};
  if (names_nobody(rule)) {
    return scope.warning(at, rule.name, "can never match: it names no user, group or role");
  }
  if (names_nothing(rule)) {
    return scope.warning(at, rule.name,
                         "can never match: it names no tool, resource, prompt or feature");
  }
  if (rule.effect == Effect::ask && !rule.features.empty()) {
    scope.warning(
        at, rule.name,
        "asks about features, for which nobody is asked: they are refused (tools, prompts "
        "and resources are asked about)");
  }
  if (rule.effect != Effect::deny) warn_of_denied(scope, server, rule);
  warn_of_features(scope, server, rule);
}

bool gives(const Rule& rule) { return rule.effect != Effect::deny && !names_nobody(rule); }

}  // namespace

void warn_of_rules(const Scope& scope, const Server& server) {
  // Of what is wrong nobody knows what it will say once it is mended.
  const bool is_broken = scope.breakage != nullptr && scope.breakage->is_broken();
  if (is_broken || scope.complaints.has_errors()) return;
  for (const Rule& rule : server.rules) {
    if (rule.name != "allow") {
      warn_of_rule(scope, server, rule);
    } else if (!names_nobody(rule)) {
      warn_of_denied(scope, server, rule);
    }
  }
  if (server.rules.empty() || std::ranges::any_of(server.rules, gives)) return;
  if (server.rules.front().name == "allow") return;  // complained about as it was read
  scope.warning({server.rules.front().line, 1}, "rule",
                "gives nobody anything, so nobody can use "
                "this server");
}

}  // namespace cellblock
