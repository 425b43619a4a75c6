#include "policy/access/verdict_text.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_argument = 128;

std::string text_of(const Scalar& scalar) {
  switch (scalar.kind) {
    case ScalarKind::text:
      return fmt::format("\"{}\"", printable(scalar.text));
    case ScalarKind::number:
      return fmt::format("{}", scalar.number);
    case ScalarKind::boolean:
      break;
  }
  return scalar.boolean ? "true" : "false";
}

std::string values_text(const std::vector<Scalar>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const Scalar& value : values) texts.push_back(text_of(value));
  return texts.size() == 1 ? texts.front() : fmt::format("one of {}", fmt::join(texts, ", "));
}

std::string range_text(const Condition& condition) {
  if (!condition.max) return fmt::format("a number of at least {}", *condition.min);
  if (!condition.min) return fmt::format("a number of at most {}", *condition.max);
  return fmt::format("a number from {} to {}", *condition.min, *condition.max);
}

std::string fault_text(const ArgumentFault& fault) {
  const std::string name = printable(fault.argument.substr(0, longest_argument));
  switch (fault.kind) {
    case ArgumentFault::Kind::none:
      break;
    case ArgumentFault::Kind::missing:
      return fmt::format("the argument \"{}\" is missing; it must be {}", name,
                         text_of(*fault.condition));
    case ArgumentFault::Kind::outside:
    case ArgumentFault::Kind::unclear:
      return fmt::format("the argument \"{}\" must be {}", name, text_of(*fault.condition));
    case ArgumentFault::Kind::unnamed:
      return fmt::format("the argument \"{}\" may not be given", name);
    case ArgumentFault::Kind::no_object:
      return "the arguments must be an object of at most 1024 members";
  }
  return "nothing allows it";
}

}  // namespace

std::string text_of(const Condition& condition) {
  switch (condition.kind) {
    case ConditionKind::any:
      return "given";
    case ConditionKind::one_of:
      return values_text(condition.one_of);
    case ConditionKind::range:
      return range_text(condition);
    case ConditionKind::below:
      break;
  }
  return fmt::format("an absolute path at or below {}, without \"..\"", condition.below);
}

std::string text_of(const AccessVerdict& verdict) {
  if (verdict.rule == nullptr) {
    if (verdict.nearest == nullptr) return "nothing allows it";
    return fmt::format("not allowed with these arguments: {} ({})", fault_text(verdict.fault),
                       verdict.nearest->name);
  }
  switch (verdict.effect) {
    case Effect::allow:
      // Of the table "allow" the rule's name says nothing more.
      return verdict.rule->name == "allow" ? "the table allow names it"
                                           : fmt::format("{} allows it", verdict.rule->name);
    case Effect::ask:
      return fmt::format("this needs an approval ({})", verdict.rule->name);
    case Effect::deny:
      break;
  }
  return fmt::format("{} denies it{}", verdict.rule->name,
                     verdict.rule->arguments.empty() ? "" : " with these arguments");
}

}  // namespace cellblock
