#include "examples/echo_server/reply.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>

namespace echo_server {
namespace {

using simdjson::ondemand::object;

constexpr std::string_view tools =
    R"([{"name":"echo","description":"Gives its text back",)"
    R"("inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},)"
    R"({"name":"payload","description":"A text of so many bytes",)"
    R"("inputSchema":{"type":"object","properties":{"bytes":{"type":"integer","minimum":0}},)"
    R"("required":["bytes"]}}])";

constexpr std::string_view capabilities = R"("capabilities":{"tools":{}})";
constexpr std::string_view server_info = R"({"name":"echo-server","version":"1.0.0"})";

/// Raw JSON, as it stands in the line; empty if absent.
struct Request {
  std::string_view id;
  std::string_view method;
  std::string_view protocol_version;  ///< of initialize
  std::string_view tool;
  std::string_view text;  ///< of echo
  std::uint64_t bytes = 0;
  bool is_modern = false;
};

std::string_view trimmed(std::string_view raw) {
  while (!raw.empty() && (raw.back() == ' ' || raw.back() == '\t')) raw.remove_suffix(1);
  return raw;
}

void read_arguments(object arguments, Request& request) {
  for (auto field : arguments) {
    const std::string_view key = field.unescaped_key();
    if (key == "text") request.text = trimmed(field.value().raw_json_token());
    if (key == "bytes") request.bytes = field.value().get_uint64();
  }
}

void read_meta(object meta, Request& request) {
  for (auto field : meta) {
    const std::string_view key = field.unescaped_key();
    if (key == "io.modelcontextprotocol/protocolVersion") request.is_modern = true;
  }
}

void read_params(object params, Request& request) {
  for (auto field : params) {
    const std::string_view key = field.unescaped_key();
    if (key == "name") request.tool = field.value().get_string();
    if (key == "protocolVersion")
      request.protocol_version = trimmed(field.value().raw_json_token());
    if (key == "arguments") read_arguments(field.value().get_object(), request);
    if (key == "_meta") read_meta(field.value().get_object(), request);
  }
}

Request read(object message) {
  Request request;
  for (auto field : message) {
    const std::string_view key = field.unescaped_key();
    if (key == "id") request.id = trimmed(field.value().raw_json_token());
    if (key == "method") request.method = field.value().get_string();
    if (key == "params") read_params(field.value().get_object(), request);
  }
  return request;
}

enum class Caching : std::uint8_t { none, stated };

/// The members that the modern era wants in a result, with the comma before them.
void append_result_members(const Request& request, Caching caching, std::string& out) {
  if (!request.is_modern) return;
  out += R"(,"resultType":"complete")";
  if (caching == Caching::stated) out += R"(,"ttlMs":0,"cacheScope":"private")";
  out.append(R"(,"_meta":{"io.modelcontextprotocol/serverInfo":)").append(server_info).append("}");
}

void append_error(std::string_view code_and_message, std::string& out) {
  out.append(R"("error":{)").append(code_and_message).append("}");
}

void append_call(const Request& request, std::string& out) {
  const bool is_echo = request.tool == "echo" && request.text.starts_with('"');
  const bool is_payload = request.tool == "payload" && request.bytes <= max_payload;
  if (!is_echo && !is_payload) {
    append_error(R"("code":-32602,"message":"Unknown tool or wrong arguments")", out);
    return;
  }
  out += R"("result":{"content":[{"type":"text","text":)";
  if (is_echo) {
    out += request.text;
  } else {
    out.append("\"").append(request.bytes, 'x').append("\"");
  }
  out += "}]";
  append_result_members(request, Caching::none, out);
  out += "}";
}

void append_initialize(const Request& request, std::string& out) {
  const std::string_view wanted = request.protocol_version;
  out.append(R"("result":{"protocolVersion":)");
  out.append(wanted.empty() ? R"("2025-11-25")" : wanted).append(",");
  out.append(capabilities).append(R"(,"serverInfo":)").append(server_info).append("}");
}

void append_body(const Request& request, std::string& out) {
  if (request.method == "tools/call") {
    append_call(request, out);
  } else if (request.method == "tools/list") {
    out.append(R"("result":{"tools":)").append(tools);
    append_result_members(request, Caching::stated, out);
    out += "}";
  } else if (request.method == "initialize") {
    append_initialize(request, out);
  } else if (request.method == "server/discover") {
    out.append(R"("result":{"supportedVersions":["2026-07-28"],)").append(capabilities);
    append_result_members(request, Caching::stated, out);
    out += "}";
  } else if (request.method == "ping") {
    out += R"("result":{})";
  } else {
    append_error(R"("code":-32601,"message":"Method not found")", out);
  }
}

}  // namespace

void append_reply(std::string_view line, std::string& out) {
  static simdjson::ondemand::parser parser;
  static simdjson::padded_string padded;
  try {
    padded = simdjson::padded_string(line);
    simdjson::ondemand::document document = parser.iterate(padded);
    const Request request = read(document.get_object());
    if (request.id.empty()) return;
    out.append(R"({"jsonrpc":"2.0","id":)").append(request.id).append(",");
    append_body(request, out);
    out += "}\n";
  } catch (const simdjson::simdjson_error&) {
    out += R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}})"
           "\n";
  }
}

}  // namespace echo_server
