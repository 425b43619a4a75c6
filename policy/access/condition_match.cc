#include "policy/access/condition_match.h"

#include <algorithm>

namespace cellblock {
namespace {

using Kind = ArgumentFault::Kind;

Match certain(bool holds) { return holds ? Match::yes : Match::no; }

Match match_scalar(const Scalar& wanted, const Value& value) {
  switch (wanted.kind) {
    case ScalarKind::text:
      if (value.kind != ValueKind::text) return Match::unclear;
      return certain(value.text == wanted.text);
    case ScalarKind::number:
      if (value.kind != ValueKind::number) return Match::unclear;
      return certain(value.number == wanted.number);
    case ScalarKind::boolean:
      break;
  }
  if (value.kind != ValueKind::boolean) return Match::unclear;
  return certain(value.boolean == wanted.boolean);
}

// Plainly not in the list is only what has the type of every entry: "5" may be the 5 of
// [5, "max"].
Match match_one_of(const std::vector<Scalar>& list, const Value& value) {
  Match best = Match::no;
  for (const Scalar& wanted : list) best = std::max(best, match_scalar(wanted, value));
  return best;
}

Match match_range(const Condition& condition, const Value& value) {
  if (value.kind != ValueKind::number) return Match::unclear;
  if (condition.min && value.number < *condition.min) return Match::no;
  if (condition.max && value.number > *condition.max) return Match::no;
  return Match::yes;
}

// Empty: there is none left.
std::string_view next_component(std::string_view& rest) {
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    const std::string_view component = rest.substr(0, rest.find('/'));
    rest.remove_prefix(component.size());
    if (component != ".") return component;
  }
}

bool has_parent_step(std::string_view path) {
  for (std::string_view rest = path; !rest.empty();) {
    if (next_component(rest) == "..") return true;
  }
  return false;
}

const Argument* find(const Arguments& arguments, std::string_view name) {
  const auto found = std::ranges::find(arguments, name, &Argument::name);
  return found == arguments.end() ? nullptr : &*found;
}

ArgumentFault fault_by(const Condition& condition, const Arguments& arguments) {
  const Argument* argument = find(arguments, condition.argument);
  if (argument == nullptr) {
    if (condition.is_optional) return {};
    return {Kind::missing, condition.argument, &condition};
  }
  const Match found = match(condition, argument->value);
  if (found == Match::yes) return {};
  return {found == Match::no ? Kind::outside : Kind::unclear, condition.argument, &condition};
}

bool is_named(const Rule& rule, std::string_view argument) {
  return std::ranges::find(rule.arguments, argument, &Condition::argument) != rule.arguments.end();
}

}  // namespace

Match match(const Condition& condition, const Value& value) {
  switch (condition.kind) {
    case ConditionKind::any:
      return Match::yes;
    case ConditionKind::one_of:
      return match_one_of(condition.one_of, value);
    case ConditionKind::range:
      return match_range(condition, value);
    case ConditionKind::below:
      break;
  }
  return value.kind == ValueKind::text ? match_below(condition.below, value.text) : Match::unclear;
}

Match match_below(std::string_view directory, std::string_view path) {
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos || has_parent_step(path))
    return Match::unclear;
  for (;;) {
    const std::string_view wanted = next_component(directory);
    if (wanted.empty()) return Match::yes;
    if (next_component(path) != wanted) return Match::no;
  }
}

ArgumentFault fault_of(const Rule& rule, const Arguments* arguments) {
  if (rule.arguments.empty()) return {};
  if (arguments == nullptr) return {.kind = Kind::no_object};
  for (const Condition& condition : rule.arguments) {
    if (auto fault = fault_by(condition, *arguments); fault.kind != Kind::none) return fault;
  }
  for (const Argument& argument : *arguments) {
    if (!is_named(rule, argument.name)) return {Kind::unnamed, argument.name, nullptr};
  }
  return {};
}

bool may_be_meant(const Rule& rule, const Arguments* arguments) {
  if (rule.arguments.empty() || arguments == nullptr) return true;
  return std::ranges::all_of(rule.arguments, [&](const Condition& condition) {
    const auto kind = fault_by(condition, *arguments).kind;
    return kind == Kind::none || kind == Kind::unclear;
  });
}

}  // namespace cellblock
