#include "supervisor/gateway/search/called_tool.h"

#include <vector>

#include "policy/json/json_text.h"
#include "policy/json/raw_json.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/message/failures.h"
#include "supervisor/gateway/search/search_tools.h"

namespace cellblock::gateway {
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
