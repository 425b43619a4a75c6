#include "supervisor/probe/mcp_server.h"

#include <charconv>

namespace cellblock::probe {
namespace {

using nlohmann::json;

constexpr int parse_error = -32700;
constexpr int no_method = -32601;
constexpr int invalid_params = -32602;

/// What becomes an error response.
struct Refusal {
  int code;
  std::string message;
};

constexpr char protocol_version[] = "2025-06-18";

json tool() {
  const json flag = {{"type", "boolean"}};
  const json text = {{"type", "string"}};
  json targets = json::object();
  for (const char* kind : {"tcp", "abstract_socket", "unix_socket", "datagram_socket", "file",
                           "variable", "host_name", "process"}) {
    targets[kind] = text;
  }
  return {{"name", "run"},
          {"description", "Tries what a cell should hold back, and says how far it got."},
          {"inputSchema",
           {{"type", "object"},
            {"properties",
             {{"only", {{"type", "array"}, {"items", text}}},
              {"bombs", flag},
              {"fatal", flag},
              {"targets", {{"type", "object"}, {"properties", targets}}}}}}}};
}

With flag_of(const json& arguments, const char* name) {
  const auto found = arguments.find(name);
  if (found == arguments.end()) return With::no;
  if (!found->is_boolean()) throw Refusal{invalid_params, std::string(name) + " is true or false"};
  return found->get<bool>() ? With::yes : With::no;
}

void read_targets(const json& arguments, Targets& targets) {
  const auto found = arguments.find("targets");
  if (found == arguments.end()) return;
  if (!found->is_object()) throw Refusal{invalid_params, "targets is an object"};
  for (const auto& [kind, value] : found->items()) {
    if (!value.is_string() || !set_target(targets, kind, value.get<std::string>())) {
      throw Refusal{invalid_params, "no such target"};
    }
  }
}

Selection selection_of(const json& arguments) {
  Selection selection;
  if (arguments.is_null()) return selection;
  if (!arguments.is_object()) throw Refusal{invalid_params, "arguments is an object"};
  if (const auto only = arguments.find("only"); only != arguments.end()) {
    if (!only->is_array()) throw Refusal{invalid_params, "only is a list of ids"};
    for (const json& id : *only) {
      if (!id.is_string()) throw Refusal{invalid_params, "only is a list of ids"};
      selection.only.push_back(id.get<std::string>());
    }
  }
  selection.bombs = flag_of(arguments, "bombs");
  selection.fatal = flag_of(arguments, "fatal");
  read_targets(arguments, selection.targets);
  if (unknown_id(selection)) throw Refusal{invalid_params, "only names an unknown attempt"};
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

json McpServer::call(const json& params) const {
  if (!params.is_object() || member(params, "name") != "run") {
    throw Refusal{invalid_params, "Unknown tool"};
  }
  const RunResult result = run_(selection_of(member(params, "arguments")));
  return {{"content", json::array({{{"type", "text"}, {"text", result.table}}})},
          {"structuredContent", result.structured},
          {"isError", false}};
}

json McpServer::result_of(const std::string& method, const json& params) const {
  if (method == "initialize") {
    return {{"protocolVersion", protocol_version},
            {"capabilities", {{"tools", json::object()}}},
            {"serverInfo", {{"name", "cellblock-probe"}, {"version", CELLBLOCK_VERSION}}}};
  }
  if (method == "ping") return json::object();
  if (method == "tools/list") return {{"tools", json::array({tool()})}};
  if (method == "tools/call") return call(params);
  throw Refusal{no_method, "Method not found"};
}

std::optional<std::string> McpServer::answer(std::string_view line) const {
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) return error_answer(nullptr, parse_error, "Parse error").dump();
  const json id = member(message, "id");
  const json method = member(message, "method");
  if (id.is_null() || !method.is_string()) return std::nullopt;
  try {
    const json result = result_of(method.get<std::string>(), member(message, "params"));
    return json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result}}.dump();
  } catch (const Refusal& refusal) {
    return error_answer(id, refusal.code, refusal.message).dump();
  }
}

}  // namespace cellblock::probe
