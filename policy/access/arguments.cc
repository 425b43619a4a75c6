#include "policy/access/arguments.h"

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

}  // namespace cellblock
