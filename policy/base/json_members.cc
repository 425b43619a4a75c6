#include "policy/base/json_members.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/base/json_string.h"

namespace cellblock {

JsonMembers& JsonMembers::text(std::string_view name, std::string_view value) {
  return raw(name, json_string(value));
}

JsonMembers& JsonMembers::flag(std::string_view name, bool value) {
  return raw(name, value ? "true" : "false");
}

JsonMembers& JsonMembers::number(std::string_view name, std::size_t value) {
  return raw(name, std::to_string(value));
}

JsonMembers& JsonMembers::raw(std::string_view name, std::string_view json) {
  return append(fmt::format("{}:{}", json_string(name), json));
}

JsonMembers& JsonMembers::append(std::string_view members) {
  if (!text_.empty() && !members.empty()) text_ += ',';
  text_ += members;
  return *this;
}

std::string json_array(const std::vector<std::string>& elements) {
  return fmt::format("[{}]", fmt::join(elements, ","));
}

std::string json_strings(std::vector<std::string> texts) {
  for (std::string& text : texts) text = json_string(text);
  return json_array(texts);
}

}  // namespace cellblock
