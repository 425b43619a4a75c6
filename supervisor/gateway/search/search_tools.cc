#include "supervisor/gateway/search/search_tools.h"

#include <fmt/format.h>

#include "policy/json/json_text.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/message/session_failures.h"

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

namespace {

constexpr std::size_t longest_name = 512;

using Members = std::vector<RawMember>;

struct Named {
  std::string_view name;
  std::string_view arguments = "{}";
};

std::unexpected<Failure> bad_call(std::string_view why) {
  return std::unexpected(
      plain_failure(FailureCode::invalid_arguments,
                    std::string(why) +
                        "; allowed: {\"name\": a tool's name, \"arguments\": an object, or none}"));
}

std::expected<Named, Failure> read_named(std::string_view arguments) {
  const auto members = raw_members(arguments);
  if (!members) return bad_call("there are no arguments");
  Named named;
  for (const RawMember& member : *members) {
    if (member.name == "name") {
      named.name = member.value;
    } else if (member.name == "arguments") {
      named.arguments = member.value;
    } else {
      return bad_call("an argument is not known");
    }
  }
  const bool is_name = is_raw_string(named.name) && named.name.size() <= longest_name;
  if (!is_name || decoded(named.name).empty()) return bad_call("\"name\" names no tool");
  if (!named.arguments.starts_with('{')) return bad_call("\"arguments\" is no object");
  if (is_own_tool(decoded(named.name))) {
    return bad_call("cellblock's own tools are called by their own names");
  }
  return named;
}

std::string params_of(const Members& members, const Named& named) {
  std::string params =
      R"({"name":)" + std::string(named.name) + R"(,"arguments":)" + std::string(named.arguments);
  for (const RawMember& member : members) {
    if (member.name == "name" || member.name == "arguments") continue;
    params.append(",").append(member.key).append(":").append(member.value);
  }
  return params + "}";
}

}  // namespace

std::expected<std::string, Failure> as_called_tool(std::string_view line, const Message& message) {
  const auto members = raw_members(message.params.in(line));
  const RawMember* arguments = members ? find_member(*members, "arguments") : nullptr;
  if (arguments == nullptr) return bad_call("there are no arguments");
  const auto named = read_named(arguments->value);
  if (!named) return std::unexpected(named.error());
  std::string text = EditedMessage(line, {{message.params, params_of(*members, *named)}}).flatten();
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace cellblock::gateway
