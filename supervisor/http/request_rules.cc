#include "supervisor/http/request_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/base/trimmed.h"
#include "policy/config/names.h"
#include "policy/encoding/base64.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::http {
namespace {

constexpr std::string_view endpoint = "/mcp";

// "application/json; charset=utf-8" is application/json.
std::string media_type(std::string_view text) {
  return lower_case(trimmed(text.substr(0, text.find(';')), " \t"));
}

bool accepts(const Request& request, std::string_view type) {
  std::string_view list = request.header("accept").value_or("");
  const std::string group = std::string(type.substr(0, type.find('/'))) + "/*";
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string item = media_type(list.substr(0, comma));
    if (item == type || item == group || item == "*/*") return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

Reply wrong(unsigned status, std::string_view text) {
  return error_page(status, {}, mcp::invalid_request, text);
}

std::optional<Reply> refuse_post(const Request& request) {
  if (media_type(request.header("content-type").value_or("")) != "application/json") {
    return wrong(415, "Content-Type must be application/json");
  }
  if (!accepts(request, "application/json") || !accepts(request, "text/event-stream")) {
    return wrong(406, "Accept must list application/json and text/event-stream");
  }
  return std::nullopt;
}

std::optional<Reply> refuse_get(const Request& request) {
  if (request.header("mcp-protocol-version") == mcp::modern_revision) {
    Reply reply = wrong(405, "Revision 2026-07-28 has no GET");
    reply.headers.push_back({"Allow", "POST"});
    return reply;
  }
  if (!accepts(request, "text/event-stream"))
    return wrong(406, "Accept must list text/event-stream");
  return std::nullopt;
}

// The text of a JSON string.
std::string text_of(std::string_view json) {
  const auto tree = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  return tree.is_string() ? tree.get<std::string>() : std::string{};
}

constexpr std::size_t longest_echo = 64;  // bytes of what somebody calls a version

std::string supported_versions(std::string_view requested) {
  const std::string asked = nlohmann::json(requested.substr(0, longest_echo))
                                .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  // As server/discover says it: a host that reads this asks without `initialize`.
  return fmt::format(R"({{"supported":["{}"],"requested":{}}})", mcp::modern_revision, asked);
}

Reply unsupported(std::string_view id, std::string_view requested) {
  return error_page(400, id, mcp::unsupported_version, "Unsupported protocol version",
                    supported_versions(requested));
}

std::optional<Reply> mismatch(std::string_view id, std::string_view header, std::string_view what) {
  return error_page(400, id, mcp::header_mismatch,
                    fmt::format("Header mismatch: {} {}", header, what));
}

bool is_named(const Message& message) {
  return message.method == mcp::method::tools_call ||
         message.method == mcp::method::resources_read ||
         message.method == mcp::method::prompts_get;
}

std::optional<Reply> refuse_name(const Request& request, std::string_view line,
                                 const Message& message, std::string_view id) {
  if (!is_named(message)) return std::nullopt;
  const Span where = message.method == mcp::method::resources_read ? message.uri : message.name;
  // Without a name in the body there is nothing to compare: the server says what is wrong.
  if (where.empty()) return std::nullopt;
  const auto header = request.header("mcp-name");
  if (!header) return mismatch(id, "Mcp-Name", "is missing");
  const auto name = decoded_header(*header);
  if (!name) return mismatch(id, "Mcp-Name", "is not well-formed");
  if (*name != text_of(where.in(line)))
    return mismatch(id, "Mcp-Name", "is not what the body says");
  return std::nullopt;
}

}  // namespace

std::optional<std::string> server_of_target(std::string_view target) {
  target = target.substr(0, target.find('?'));
  if (!target.starts_with(endpoint)) return std::nullopt;
  target.remove_prefix(endpoint.size());
  if (target.empty()) return std::string{};
  if (!target.starts_with('/') || !is_short_name(target.substr(1))) return std::nullopt;
  return std::string(target.substr(1));
}

std::optional<Reply> refuse_head(const Request& request) {
  if (!server_of_target(request.target)) {
    return wrong(404, "There is /mcp, and /mcp/NAME for each server");
  }
  switch (request.verb) {
    case Verb::post:
      return refuse_post(request);
    case Verb::get:
      return refuse_get(request);
    case Verb::del:
    case Verb::options:
      return std::nullopt;
    case Verb::other:
      break;
  }
  Reply reply = wrong(405, "Allowed: POST, GET, DELETE");
  reply.headers.push_back({"Allow", "POST, GET, DELETE, OPTIONS"});
  return reply;
}

HttpEra era_of(const Request& request, const Message& message) {
  if (message.is_modern() || message.method == mcp::method::discover) return HttpEra::modern;
  const bool says_modern = request.header("mcp-protocol-version") == mcp::modern_revision;
  return says_modern && message.method != mcp::method::initialize ? HttpEra::modern
                                                                  : HttpEra::legacy;
}

std::optional<Reply> refuse_modern(const Request& request, std::string_view line,
                                   const Message& message) {
  const std::string_view id = message.id.in(line);
  if (message.protocol_version.empty() || message.client_capabilities.empty()) {
    return error_page(400, id, mcp::invalid_params,
                      fmt::format("params._meta must have {} and {}", mcp::meta_key::version,
                                  mcp::meta_key::capabilities));
  }
  const std::string version = text_of(message.protocol_version.in(line));
  const auto said = request.header("mcp-protocol-version");
  if (!said) return mismatch(id, "MCP-Protocol-Version", "is missing");
  if (*said != version) return mismatch(id, "MCP-Protocol-Version", "is not what the body says");
  if (version != mcp::modern_revision) return unsupported(id, version);
  const auto method = request.header("mcp-method");
  if (!method) return mismatch(id, "Mcp-Method", "is missing");
  if (*method != message.method) return mismatch(id, "Mcp-Method", "is not what the body says");
  return refuse_name(request, line, message, id);
}

std::optional<Reply> refuse_version(const Request& request, std::string_view id) {
  const auto said = request.header("mcp-protocol-version");
  if (!said || mcp::is_legacy_revision(*said)) return std::nullopt;
  return unsupported(id, *said);
}

std::optional<std::string> decoded_header(std::string_view value) {
  constexpr std::string_view begin = "=?base64?";
  constexpr std::string_view end = "?=";
  const bool printable = std::ranges::all_of(
      value, [](char letter) { return (letter >= ' ' && letter <= '~') || letter == '\t'; });
  if (!printable) return std::nullopt;
  const bool encoded =
      value.size() >= begin.size() + end.size() && value.starts_with(begin) && value.ends_with(end);
  if (!encoded) return std::string(value);
  return base64_bytes(value.substr(begin.size(), value.size() - begin.size() - end.size()));
}

}  // namespace cellblock::http
