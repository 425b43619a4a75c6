#include "policy/config_check/rule_check.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "policy/config_check/choice_check.h"
#include "policy/config_check/condition_check.h"
#include "policy/config_check/pattern_check.h"

namespace cellblock {
namespace {

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

}  // namespace cellblock
