#include "supervisor/gateway/checks/schema_shape.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "supervisor/gateway/checks/visible_text.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t each_value = 4;  // a number or a word and its comma

// False: what is left of `room` is not enough.
bool fits(const Json& value, std::size_t& room) {
  std::size_t size = each_value;
  if (value.is_string()) size += value.get_ref<const std::string&>().size();
  if (size > room) return false;
  room -= size;
  if (value.is_array()) {
    return std::ranges::all_of(value, [&room](const Json& inner) { return fits(inner, room); });
  }
  if (!value.is_object()) return true;
  for (const auto& [key, inner] : value.items()) {
    if (key.size() > room) return false;
    room -= key.size();
    if (!fits(inner, room)) return false;
  }
  return true;
}

bool is_ref(std::string_view key) {
  return key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef";
}

bool points_outside(const Json& target) {
  return target.is_string() && !target.get_ref<const std::string&>().starts_with('#');
}

}  // namespace

bool is_deeper_than(const Json& value, unsigned levels) {
  if (!value.is_structured()) return false;
  if (levels == 0) return true;
  return std::ranges::any_of(
      value, [levels](const Json& inner) { return is_deeper_than(inner, levels - 1); });
}

bool is_larger_than(const Json& value, std::size_t bytes) { return !fits(value, bytes); }

bool has_external_ref(const Json& schema) {
  if (schema.is_array()) return std::ranges::any_of(schema, has_external_ref);
  if (!schema.is_object()) return false;
  return std::ranges::any_of(schema.items(), [](const auto& member) {
    if (is_ref(member.key()) && points_outside(member.value())) return true;
    return has_external_ref(member.value());
  });
}

bool has_hidden_key(const Json& value) {
  if (value.is_array()) return std::ranges::any_of(value, has_hidden_key);
  if (!value.is_object()) return false;
  return std::ranges::any_of(value.items(), [](const auto& member) {
    return has_hidden(member.key()) || has_hidden_key(member.value());
  });
}

}  // namespace cellblock::gateway
