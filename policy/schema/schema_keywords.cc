#include "policy/schema/schema_keywords.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "policy/base/printable.h"

namespace cellblock {

using Json = nlohmann::ordered_json;

TypeMask type_of(const Json& value) {
  if (value.is_null()) return schema_type::null;
  if (value.is_boolean()) return schema_type::boolean;
  if (value.is_object()) return schema_type::object;
  if (value.is_array()) return schema_type::array;
  if (value.is_string()) return schema_type::string;
  const long double number = schema_number(value);
  const bool is_whole = std::isfinite(number) && std::floor(number) == number;
  return is_whole ? schema_type::integer | schema_type::number : schema_type::number;
}

std::string_view name_of_type(TypeMask type) {
  if ((type & schema_type::integer) != 0) return "an integer";
  if ((type & schema_type::number) != 0) return "a number";
  if ((type & schema_type::string) != 0) return "a string";
  if ((type & schema_type::object) != 0) return "an object";
  if ((type & schema_type::array) != 0) return "an array";
  return (type & schema_type::boolean) != 0 ? "a boolean" : "null";
}

std::string names_of_types(TypeMask types) {
  constexpr std::array all{schema_type::string, schema_type::number, schema_type::integer,
                           schema_type::object, schema_type::array,  schema_type::boolean,
                           schema_type::null};
  std::string text;
  for (const TypeMask type : all) {
    if ((types & type) == 0) continue;
    if (type == schema_type::integer && (types & schema_type::number) != 0) continue;
    text += (text.empty() ? "" : " or ") + std::string(name_of_type(type));
  }
  return text;
}

std::string shown(const Json& value) {
  if (value.is_binary()) return "a number";
  // Asked for at every value that does not fit, whatever its size: only what is short is written
  // out.
  if (value.is_structured() && !value.empty()) {
    return value.is_array() ? "a certain array" : "a certain object";
  }
  if (value.is_string()) {
    const std::string_view text = value.get_ref<const std::string&>();
    if (text.size() > longest_schema_word) {
      return '"' + printable(text.substr(0, longest_schema_word), longest_schema_word) + "…\"";
    }
  }
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), longest_schema_word);
}

std::string escaped(std::string_view token) {
  std::string text;
  for (const char c : printable(token, longest_schema_word)) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace cellblock
