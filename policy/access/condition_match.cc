#include "policy/access/condition_match.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace cellblock {
namespace {

namespace json = simdjson::ondemand;

constexpr double last_exact_integer = 9'007'199'254'740'991;  // 2^53-1
// Each condition of each rule looks for its argument among them.
constexpr std::size_t max_arguments = 1024;
constexpr std::size_t exact_digits = 15;  // std::numeric_limits<double>::digits10

// From the first digit that is not 0 to the last one.
std::size_t significant_digits(std::string_view text) {
  std::string digits;
  for (const char c : text.substr(0, text.find_first_of("eE"))) {
    if (c >= '0' && c <= '9' && (c != '0' || !digits.empty())) digits += c;
  }
  return digits.find_last_not_of('0') + 1;  // npos + 1 is 0
}

bool is_within_double(double value, std::size_t digits) {
  if (digits == 0) return true;
  return std::isfinite(value) && std::abs(value) >= std::numeric_limits<double>::min();
}

std::string_view trimmed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return text.substr(0, end + 1);
}

Value number_of(std::string_view raw) {
  const auto number = exact_number(trimmed(raw));
  if (!number) return {};
  return {.kind = ValueKind::number, .number = *number};
}

// What does not read is opaque.
Value value_of(json::value& value) {
  json::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return {};
  if (type == json::json_type::number) return number_of(value.raw_json_token());
  std::string_view text;
  if (type == json::json_type::string && value.get_string().get(text) == simdjson::SUCCESS) {
    return {.kind = ValueKind::text, .text = std::string(text)};
  }
  bool boolean = false;
  if (type == json::json_type::boolean && value.get_bool().get(boolean) == simdjson::SUCCESS) {
    return {.kind = ValueKind::boolean, .boolean = boolean};
  }
  return {};
}

std::optional<Arguments> members_of(json::object object) {
  Arguments arguments;
  for (auto field : object) {
    if (arguments.size() == max_arguments) return std::nullopt;
    std::string_view name;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return std::nullopt;
    std::string kept(name);
    json::value value;
    if (field.value().get(value) != simdjson::SUCCESS) return std::nullopt;
    arguments.push_back({std::move(kept), value_of(value)});
  }
  return arguments;
}

}  // namespace

std::optional<double> exact_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  const std::size_t digits = significant_digits(text);
  if (!is_within_double(value, digits)) return std::nullopt;
  const bool is_integer = text.find_first_of(".eE") == std::string_view::npos;
  if (is_integer && std::abs(value) <= last_exact_integer) return value;
  return digits <= exact_digits ? std::optional(value) : std::nullopt;
}

std::optional<Arguments> read_arguments(std::string_view params) {
  if (params.empty()) return Arguments{};
  const simdjson::padded_string text(params);
  json::parser parser;
  json::document document;
  json::object object;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return std::nullopt;
  if (document.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  // simdjson's own search compares keys as they are written: "argum\u0065nts" would be none.
  for (auto field : object) {
    std::string_view name;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return std::nullopt;
    if (name != "arguments") continue;
    json::object arguments;
    if (field.value().get_object().get(arguments) != simdjson::SUCCESS) return std::nullopt;
    return members_of(arguments);
  }
  return Arguments{};
}

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

namespace {

// What is left out may stand for its default: then that decides, if it is plainly outside or not.
ArgumentFault fault_with_defaults(const Condition& condition, const Arguments& arguments,
                                  const Arguments* defaults) {
  const bool is_left_out = find(arguments, condition.argument) == nullptr;
  const bool is_about_value = condition.kind != ConditionKind::any;
  if (!is_left_out || !is_about_value || defaults == nullptr) return fault_by(condition, arguments);
  if (find(*defaults, condition.argument) == nullptr) return fault_by(condition, arguments);
  return condition.is_optional ? ArgumentFault{} : fault_by(condition, *defaults);
}

}  // namespace

bool may_be_meant(const Rule& rule, const Arguments* arguments, const Arguments* defaults) {
  if (rule.arguments.empty() || arguments == nullptr) return true;
  return std::ranges::all_of(rule.arguments, [&](const Condition& condition) {
    const auto kind = fault_with_defaults(condition, *arguments, defaults).kind;
    return kind == Kind::none || kind == Kind::unclear;
  });
}

namespace {

// A schema without a default, and what does not read, has none.
std::optional<Value> default_in(json::value& schema) {
  json::object members;
  if (schema.get_object().get(members) != simdjson::SUCCESS) return std::nullopt;
  for (auto field : members) {
    std::string_view name;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return std::nullopt;
    json::value value;
    if (field.value().get(value) != simdjson::SUCCESS) return std::nullopt;
    if (name == "default") return value_of(value);
  }
  return std::nullopt;
}

Arguments defaults_of(json::object properties) {
  Arguments defaults;
  for (auto field : properties) {
    if (defaults.size() == max_arguments) return defaults;
    std::string_view name;
    json::value schema;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return defaults;
    std::string kept(name);
    if (field.value().get(schema) != simdjson::SUCCESS) return defaults;
    if (auto value = default_in(schema)) defaults.push_back({std::move(kept), *std::move(value)});
  }
  return defaults;
}

}  // namespace

Arguments read_defaults(std::string_view definition) {
  const simdjson::padded_string text(definition);
  json::parser parser;
  json::document document;
  json::object properties;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return {};
  if (document["inputSchema"]["properties"].get_object().get(properties) != simdjson::SUCCESS) {
    return {};
  }
  return defaults_of(properties);
}

}  // namespace cellblock
