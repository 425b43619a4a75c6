#include "supervisor/probe/mcp_server.h"

#include <charconv>

#include "policy/base/result.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::probe {
namespace {

using nlohmann::json;

json tool() {
  const json text = {{"type", "string"}};
  return {{"name", "run"},
          {"description", "Tries what a cell should hold back, and says how far it got."},
          {"inputSchema",
           {{"type", "object"},
            {"properties", {{"only", {{"type", "array"}, {"items", text}}}}},
            {"additionalProperties", false}}}};
}

/// An answer, or what is wrong with the question.
template <class T>
using Asked = std::expected<T, Refusal>;

std::unexpected<Refusal> refuse(std::string message) {
  return std::unexpected(Refusal{mcp::invalid_params, std::move(message)});
}

Asked<std::vector<std::string>> ids_of(const json& arguments) {
  std::vector<std::string> ids;
  const auto only = arguments.find("only");
  if (only == arguments.end()) return ids;
  if (!only->is_array()) return refuse("only is a list of ids");
  for (const json& id : *only) {
    if (!id.is_string()) return refuse("only is a list of ids");
    ids.push_back(id.get<std::string>());
  }
  return ids;
}

// Whoever may use a server may probe its cell, whatever allow.tools says. Targets of his own would
// make it a scanner of the server's network and an oracle of its files, bombs a burden on others.
Asked<Selection> selection_of(const json& arguments) {
  Selection selection;
  if (arguments.is_null()) return selection;
  if (!arguments.is_object()) return refuse("arguments is an object");
  for (const auto& [name, value] : arguments.items()) {
    if (name != "only") return refuse("the only argument is \"only\"");
  }
  selection.only = CELLBLOCK_TRY(ids_of(arguments));
  if (unknown_id(selection)) return refuse("only names an unknown attempt");
  return selection;
}

json member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? json() : *found;
}

json error_answer(const json& id, int code, const std::string& message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

}  // namespace

bool set_target(Targets& targets, std::string_view kind, const std::string& value) {
  if (kind == "tcp") targets.tcp = value;
  if (kind == "abstract_socket") targets.abstract_socket = value;
  if (kind == "unix_socket") targets.unix_socket = value;
  if (kind == "datagram_socket") targets.datagram_socket = value;
  if (kind == "file") targets.file = value;
  if (kind == "variable") targets.variable = value;
  if (kind == "host_name") targets.host_name = value;
  if (kind == "process") {
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), targets.process);
    return error == std::errc{} && end == value.data() + value.size() && targets.process > 0;
  }
  return kind == "tcp" || kind == "abstract_socket" || kind == "unix_socket" ||
         kind == "datagram_socket" || kind == "file" || kind == "variable" || kind == "host_name";
}

std::expected<json, Refusal> McpServer::call(const json& params) const {
  if (!params.is_object() || member(params, "name") != "run") return refuse("Unknown tool");
  const RunResult result = run_(CELLBLOCK_TRY(selection_of(member(params, "arguments"))));
  return json{{"content", json::array({{{"type", "text"}, {"text", result.table}}})},
              {"structuredContent", result.structured},
              {"isError", false}};
}

std::expected<json, Refusal> McpServer::result_of(const std::string& method,
                                                  const json& params) const {
  if (method == mcp::method::initialize) {
    return json{{"protocolVersion", mcp::first_with_links},
                {"capabilities", {{"tools", json::object()}}},
                {"serverInfo", {{"name", "cellblock-probe"}, {"version", CELLBLOCK_VERSION}}}};
  }
  if (method == mcp::method::ping) return json::object();
  if (method == mcp::method::tools_list) return json{{"tools", json::array({tool()})}};
  if (method == mcp::method::tools_call) return call(params);
  return std::unexpected(Refusal{mcp::method_not_found, "Method not found"});
}

std::optional<std::string> McpServer::answer(std::string_view line) const {
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) return error_answer(nullptr, mcp::parse_error, "Parse error").dump();
  const json id = member(message, "id");
  const json method = member(message, "method");
  if (id.is_null() || !method.is_string()) return std::nullopt;
  const auto result = result_of(method.get<std::string>(), member(message, "params"));
  if (!result) return error_answer(id, result.error().code, result.error().message).dump();
  return json{{"jsonrpc", "2.0"}, {"id", id}, {"result", *result}}.dump();
}

}  // namespace cellblock::probe
