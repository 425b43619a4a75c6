#include "supervisor/gateway/checks/reading_tool.h"

#include <vector>

#include "policy/json/json_text.h"
#include "policy/json/raw_json.h"

namespace cellblock::gateway {

namespace {

bool is_named_so(std::string_view tool) {
  const auto members = raw_members(tool);
  const RawMember* name = members ? find_member(*members, "name") : nullptr;
  return name != nullptr && decoded(name->value) == reading_tool_name;
}

std::string list_with_tool(const std::vector<std::string_view>& tools) {
  std::string list;
  for (const std::string_view tool : tools) {
    if (!is_named_so(tool)) list.append(tool).append(",");
  }
  return "[" + list.append(reading_tool()) + "]";
}

}  // namespace

std::string_view reading_tool() {
  return R"({"name":"cellblock_read_result","title":"Read on in a cut result","description":)"
         R"("Reads what was left out of an earlier result, where a note of cellblock in it says so: )"
         R"(a page of text from a byte offset, or the lines that match a pattern with their offsets. )"
         R"(It shows nothing but results of this session, and runs nothing.","inputSchema":)"
         R"({"type":"object","properties":{)"
         R"("uri":{"type":"string","description":"The URI that the note names."},)"
         R"("offset":{"type":"integer","minimum":0,"description":"Byte to begin at; 0 if left out."},)"
         R"("limit":{"type":"integer","minimum":1,"description":"Bytes at most; a result's bound is )"
         R"(the most there is."},)"
         R"("grep":{"type":"string","description":"An RE2 expression: only lines that match it, each )"
         R"(after its byte offset."}},)"
         R"("required":["uri"],"additionalProperties":false},"annotations":{"readOnlyHint":true,)"
         R"("destructiveHint":false,"idempotentHint":true,"openWorldHint":false}})";
}

std::string with_reading_tool(std::string_view result) {
  const auto members = raw_members(result);
  const RawMember* tools = members ? find_member(*members, "tools") : nullptr;
  const auto elements = tools != nullptr ? raw_elements(tools->value) : std::nullopt;
  if (!elements) return std::string(result);
  const auto begin = static_cast<std::size_t>(tools->value.data() - result.data());
  return std::string(result.substr(0, begin)) + list_with_tool(*elements) +
         std::string(result.substr(begin + tools->value.size()));
}

}  // namespace cellblock::gateway
