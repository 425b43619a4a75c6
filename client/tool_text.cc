#include "client/tool_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "client/rpc_text.h"
#include "policy/mcp/meta_keys.h"
#include "policy/mcp/revisions.h"
#include "policy/result.h"

namespace cellblock::client {
namespace {

using Json = nlohmann::ordered_json;

std::unexpected<Error> unexpected_answer(std::string_view what) {
  return std::unexpected(
      Error{.code = ErrorCode::protocol, .text = fmt::format("the answer holds no {}", what)});
}

std::string text_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string joined_text(const Json& result) {
  std::string text;
  const auto content = result.find("content");
  if (content == result.end() || !content->is_array()) return text;
  for (const auto& block : *content) {
    if (!block.is_object() || text_member(block, "type") != "text") continue;
    if (!text.empty()) text += '\n';
    text += text_member(block, "text");
  }
  return text;
}

// The gateway's own failure, or null.
const Json* own_failure(const Json& result) {
  const auto meta = result.find("_meta");
  if (meta == result.end() || !meta->is_object()) return nullptr;
  const auto failure = meta->find(mcp::meta_key::error);
  return failure != meta->end() && failure->is_object() ? &*failure : nullptr;
}

}  // namespace

Result<ToolPage> read_tool_page(std::string_view result) {
  const auto json = Json::parse(result, nullptr, false);
  if (!json.is_object() || !json.contains("tools") || !json["tools"].is_array()) {
    return unexpected_answer("list of tools");
  }
  ToolPage page{.tools = {}, .next_cursor = text_member(json, "nextCursor")};
  for (const auto& tool : json["tools"]) {
    if (!tool.is_object() || text_member(tool, "name").empty())
      return unexpected_answer("tool name");
    page.tools.push_back({.name = text_member(tool, "name"),
                          .description = text_member(tool, "description"),
                          .json = tool.dump()});
  }
  return page;
}

std::string tool_page_params(std::string_view cursor) {
  return cursor.empty() ? "{}" : fmt::format(R"({{"cursor":{}}})", json_string(cursor));
}

Result<ToolResult> read_tool_result(std::string result) {
  const auto json = Json::parse(result, nullptr, false);
  if (!json.is_object()) return unexpected_answer("tool result");
  auto text = joined_text(json);
  if (const auto* failure = own_failure(json)) {
    return std::unexpected(Error{.code = code_of_failure(text_member(*failure, "code")),
                                 .text = std::move(text),
                                 .rpc_code = 0,
                                 .data = failure->dump()});
  }
  const auto is_error = json.find("isError");
  const bool failed = is_error != json.end() && is_error->is_boolean() && is_error->get<bool>();
  return ToolResult{.json = std::move(result), .text = std::move(text), .is_error = failed};
}

Result<std::string> tool_call_params(std::string_view tool, std::string_view arguments) {
  auto object = one_line_object(arguments);
  if (!object) {
    object.error().text = "the arguments of a tool are a JSON object";
    return object;
  }
  return fmt::format(R"({{"name":{},"arguments":{}}})", json_string(tool), *object);
}

Result<std::string> initialize_params(const Options& options) {
  auto capabilities = one_line_object(options.capabilities);
  if (!capabilities) {
    capabilities.error().text = "the client's capabilities are a JSON object";
    return capabilities;
  }
  return fmt::format(
      R"({{"protocolVersion":"{}","capabilities":{},"clientInfo":{{"name":{},"version":{}}}}})",
      mcp::newest_legacy, *capabilities, json_string(options.client_name),
      json_string(options.client_version));
}

std::string attach_params(std::string_view server, AttachFlags flags,
                          const std::map<std::string, std::string>& labels, std::string_view role) {
  std::string members;
  const auto add = [&members](std::string_view member) {
    members.append(members.empty() ? "" : ",").append(member);
  };
  if (!server.empty()) add(fmt::format(R"("server":{})", json_string(server)));
  if (flags.stdio) add(R"("stdio":true)");
  if (flags.workspace) add(R"("workspace":true)");
  if (flags.probe) add(R"("probe":true)");
  if (flags.on_demand) add(R"("start":"on_demand")");
  if (!role.empty()) add(fmt::format(R"("role":{})", json_string(role)));
  if (!labels.empty()) {
    add(R"("labels":)" + Json(labels).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return "{" + members + "}";
}

Result<Attached> read_attached(std::string_view result) {
  const auto json = Json::parse(result, nullptr, false);
  if (!json.is_object()) return unexpected_answer("session");
  return Attached{.server = text_member(json, "server"),
                  .session = text_member(json, "session"),
                  .cell = text_member(json, "cell"),
                  .workspace = json.value("workspace", Json(false)) == Json(true)};
}

}  // namespace cellblock::client
