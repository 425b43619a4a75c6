#include "policy/tool_search/tool_document.h"

#include <vector>

#include "policy/json/json_text.h"
#include "policy/json/raw_json.h"

namespace cellblock {
namespace {

constexpr std::size_t max_name = 512;

using Members = std::vector<RawMember>;

void append_text(std::string& text, const Members& members, std::string_view name,
                 std::size_t most) {
  const RawMember* member = find_member(members, name);
  if (member == nullptr || !is_raw_string(member->value) || text.size() >= most) return;
  append_decoded(text, member->value, most);
}

std::string text_in(const Members& members, std::string_view name, std::size_t most) {
  std::string text;
  append_text(text, members, name, most);
  return text;
}

std::string parameters_in(std::string_view schema) {
  std::string text;
  const auto members = raw_members(schema);
  const RawMember* properties = members ? find_member(*members, "properties") : nullptr;
  const auto parameters = properties != nullptr ? raw_members(properties->value) : std::nullopt;
  if (!parameters) return text;
  std::size_t count = 0;
  for (const RawMember& parameter : *parameters) {
    if (++count > max_searched_parameter_count) break;
    if (text.size() + parameter.name.size() >= max_searched_parameters) break;
    text.append(parameter.name).push_back(' ');
    const auto about = raw_members(parameter.value);
    if (about) append_text(text, *about, "description", max_searched_parameters);
    text.push_back(' ');
  }
  return text;
}

}  // namespace

ToolDocument tool_document(std::string_view definition) {
  const auto members = raw_members(definition);
  if (!members) return {};
  ToolDocument document{.name = text_in(*members, "name", max_name)};
  if (document.name.empty()) return document;
  document.title = text_in(*members, "title", max_name);
  document.description = text_in(*members, "description", max_searched_description);
  if (const RawMember* schema = find_member(*members, "inputSchema")) {
    document.parameters = parameters_in(schema->value);
  }
  return document;
}

}  // namespace cellblock
