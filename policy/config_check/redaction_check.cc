#include "policy/config_check/redaction_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/base/suggestion.h"
#include "policy/config/names.h"
#include "policy/config_check/value_check.h"
#include "policy/redaction/detectors.h"
#include "policy/redaction/scanner.h"

namespace cellblock {
namespace {

constexpr std::size_t most_expressions = 64;

void check_action(const Scope& scope, std::string_view key, const RedactionChoiceText& text,
                  RedactionChoice& choice) {
  check_choice(scope, key, text.both, choice.to_server);
  if (text.both) choice.to_host = choice.to_server;
  const Scope here = scope.below(key);
  check_choice(here, "to_server", text.to_server, choice.to_server);
  check_choice(here, "to_host", text.to_host, choice.to_host);
}

void check_detector(const Scope& scope, const DetectorText& text, RedactionPlan& plan) {
  if (find_detector(text.name.value) == nullptr) {
    std::vector<std::string_view> names;
    for (const Detector* detector : all_detectors()) names.push_back(detector->name);
    const std::string_view guess = nearest(text.name.value, names);
    return scope.error(
        text.name.at, text.name.value,
        fmt::format("is no detector{}; allowed: {}",
                    guess.empty() ? "" : fmt::format("; did you mean \"{}\"?", guess),
                    fmt::join(names, ", ")));
  }
  check_action(scope, text.name.value, text.choice, plan.detectors[text.name.value]);
}

// Its name stands in messages, where it must need no escape.
void check_expression(const Scope& scope, const ExpressionText& text, RedactionPlan& plan) {
  const std::string& name = text.name.value;
  if (!is_short_name(name) || find_detector(name) != nullptr) {
    return scope.error(text.name.at, name,
                       "is no name for an expression; allowed: [a-z][a-z0-9-]{0,62}, and none of "
                       "the detectors'");
  }
  const Scope here = scope.below(name);
  if (!text.pattern)
    return here.error(text.name.at, "pattern", "is missing; allowed: RE2's syntax");
  if (const auto good = check_pattern(text.pattern->value); !good) {
    return here.error(text.pattern->at, "pattern", good.error().text);
  }
  ExpressionRule rule{.name = name, .pattern = text.pattern->value, .choice = {}};
  check_action(here, "action", text.action, rule.choice);
  if (rule.choice.is_off()) {
    here.warning(text.name.at, "action", "is nowhere but \"off\": this expression does nothing");
  }
  plan.expressions.insert_or_assign(name, std::move(rule));
}

RedactionAction stricter(RedactionAction one, RedactionAction other) {
  return std::max(one, other);
}

RedactionChoice choice_for(const Detector& detector, const RedactionPlan& plan) {
  RedactionChoice choice;
  const auto add = [&](DetectorSet set, const RedactionChoice& chosen) {
    if ((detector.sets & set) == 0) return;
    choice = {stricter(choice.to_server, chosen.to_server),
              stricter(choice.to_host, chosen.to_host)};
  };
  add(credentials_set, plan.credentials);
  add(pii_set, plan.pii);
  add(phi_set, plan.phi);
  return choice;
}

}  // namespace

RedactionPlan check_redaction(const Scope& scope, const RedactionText& text,
                              RedactionPlan defaults) {
  RedactionPlan plan = std::move(defaults);
  const Scope here = scope.below("redaction");
  check_action(here, "secrets", text.secrets, plan.secrets);
  check_action(here, "credentials", text.credentials, plan.credentials);
  check_action(here, "pii", text.pii, plan.pii);
  check_action(here, "phi", text.phi, plan.phi);
  for (const DetectorText& detector : text.detectors) {
    check_detector(here.below("detectors"), detector, plan);
  }
  for (const ExpressionText& expression : text.expressions) {
    check_expression(here.below("expressions"), expression, plan);
  }
  if (plan.expressions.size() > most_expressions) {
    here.error(text.expressions.back().name.at, "expressions",
               fmt::format("are {} with those of [redaction]; allowed: at most {}",
                           plan.expressions.size(), most_expressions));
  }
  return plan;
}

RedactionRules rules_of(const RedactionPlan& plan) {
  RedactionRules rules{.secrets = plan.secrets, .detectors = {}, .expressions = {}};
  for (const Detector* detector : all_detectors()) {
    const std::string name(detector->name);
    const auto own = plan.detectors.find(name);
    const RedactionChoice choice =
        own != plan.detectors.end() ? own->second : choice_for(*detector, plan);
    if (!choice.is_off()) rules.detectors.push_back({name, choice});
  }
  for (const auto& [name, rule] : plan.expressions) {
    if (!rule.choice.is_off()) rules.expressions.push_back(rule);
  }
  return rules;
}

}  // namespace cellblock
