#include "supervisor/gateway/search/search_tools.h"

#include <fmt/format.h>

#include <cstddef>

#include "policy/json/json_text.h"
#include "supervisor/gateway/checks/reading_tool.h"

namespace cellblock::gateway {
namespace {

constexpr std::size_t max_names_bytes = 600;

std::string names_of_servers(const std::vector<std::string>& servers) {
  std::string names;
  std::size_t named = 0;
  for (const std::string& server : servers) {
    if (names.size() + server.size() > max_names_bytes) break;
    names.append(names.empty() ? "" : ", ").append(server);
    ++named;
  }
  if (named == servers.size()) return names;
  return fmt::format("{} and {} more", names, servers.size() - named);
}

}  // namespace

bool is_own_tool(std::string_view name) {
  return name == finding_tool_name || name == calling_tool_name || name == reading_tool_name;
}

std::string finding_tool(const std::vector<std::string>& servers) {
  std::string about =
      "Finds tools that are not listed here. Say in a few words what is to be done, with the name "
      "of "
      "the server if it is known. Answers the best matches with their descriptions and input "
      "schemas; call one with cellblock_call_tool.";
  if (!servers.empty()) about += " Servers: " + names_of_servers(servers) + ".";
  return fmt::format(
      R"({{"name":"{}","title":"Find tools","description":{},"inputSchema":{{"type":"object",)"
      R"("properties":{{"words":{{"type":"string","minLength":1,"maxLength":{},"description":)"
      R"("What is to be done, or the name of a tool."}},"limit":{{"type":"integer","minimum":1,)"
      R"("maximum":{},"description":"Matches at most; {} if left out."}}}},"required":["words"],)"
      R"("additionalProperties":false}},"annotations":{{"readOnlyHint":true,)"
      R"("destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}}})",
      finding_tool_name, json_quoted(about), max_find_words, max_find_limit, default_find_limit);
}

std::string_view calling_tool() {
  return R"({"name":"cellblock_call_tool","title":"Call a tool that was found","description":)"
         R"("Calls a tool that cellblock_find_tools has found, by its name, with arguments that fit )"
         R"(its input schema. Answers what the tool answers.","inputSchema":{"type":"object",)"
         R"("properties":{"name":{"type":"string","minLength":1,"description":"The tool's name, as )"
         R"(it was found."},"arguments":{"type":"object","description":"Its arguments; none if left )"
         R"(out."}},"required":["name"],"additionalProperties":false},"annotations":)"
         R"({"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,)"
         R"("openWorldHint":true}})";
}

}  // namespace cellblock::gateway
