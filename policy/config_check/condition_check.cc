#include "policy/config_check/condition_check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "policy/access/arguments.h"
#include "policy/config/path_rules.h"

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

}  // namespace

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

}  // namespace cellblock
