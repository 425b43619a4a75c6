#include "supervisor/http_connection/access.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "policy/mcp/protocol_words.h"

namespace cellblock::http {
namespace {

constexpr std::array<std::string_view, 3> loopback_names = {"localhost", "127.0.0.1", "[::1]"};

bool is_port(std::string_view text) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  return !text.empty() && text.size() <= 5 && std::ranges::all_of(text, is_digit);
}

// Whatever the port: a loopback name leads here by no resolver of a stranger's, and the port may be
// one that is forwarded to ours.
bool is_loopback(std::string_view authority) {
  const bool has_port = authority.rfind(':') != std::string_view::npos && !authority.ends_with(']');
  const std::string_view name = has_port ? authority.substr(0, authority.rfind(':')) : authority;
  if (has_port && !is_port(authority.substr(name.size() + 1))) return false;
  return std::ranges::find(loopback_names, name) != loopback_names.end();
}

bool is_own_authority(std::string_view authority, const AccessRules& rules) {
  const std::string name = lower_case(authority);
  return is_loopback(name) || std::ranges::any_of(rules.hosts, [&](const std::string& host) {
           return name == lower_case(host);
         });
}

bool host_is_allowed(const Request& request, const AccessRules& rules) {
  const auto host = request.header("host");
  return host && is_own_authority(*host, rules);
}

// What stands behind "http://", which is all that is spoken here, or behind "https://" where an
// ingress in front may speak that: of a declared host. Empty for anything else, "null" too.
std::string_view authority_of(std::string_view origin) {
  constexpr std::string_view plain = "http://";
  constexpr std::string_view secure = "https://";
  if (origin.starts_with(plain)) return origin.substr(plain.size());
  const bool is_secure = origin.starts_with(secure) && !is_loopback(origin.substr(secure.size()));
  return is_secure ? origin.substr(secure.size()) : std::string_view{};
}

// A page of our own has the same authority as what it asks for, port included. On the Unix socket
// too that must be one of ours: something that forwards browsers there passes any `Host` on.
bool origin_is_allowed(const Request& request, const AccessRules& rules) {
  const std::string origin = lower_case(*request.header("origin"));
  const bool declared = std::ranges::any_of(
      rules.origins, [&](const std::string& allowed) { return origin == lower_case(allowed); });
  const std::string_view authority = authority_of(origin);
  return declared || (!authority.empty() && host_is_allowed(request, rules) &&
                      authority == lower_case(request.header("host").value_or("")));
}

Reply forbidden(std::string_view what, std::string_view key) {
  return error_page(
      403, {}, mcp::invalid_request,
      std::string("Forbidden: this ") + std::string(what) + " is none of " + std::string(key));
}

}  // namespace

std::optional<Reply> refuse_stranger(const Request& request, Transport transport,
                                     const AccessRules& rules) {
  if (request.is_ambiguous()) {
    return error_page(400, {}, mcp::invalid_request,
                      "A header that decides something is there twice");
  }
  if (transport == Transport::tcp && !host_is_allowed(request, rules)) {
    return forbidden("Host", "listen.http.hosts");
  }
  if (request.header("origin") && !origin_is_allowed(request, rules)) {
    return forbidden("Origin", "listen.http.origins");
  }
  return std::nullopt;
}

std::vector<Header> cors_headers(const Request& request) {
  const auto origin = request.header("origin");
  if (!origin) return {};
  return {{"Access-Control-Allow-Origin", std::string(*origin)},
          {"Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate"},
          {"Vary", "Origin"}};
}

Reply preflight(const Request& request) {
  Reply reply{204, {{"Allow", "POST, GET, DELETE, OPTIONS"}}, {}};
  if (!request.header("origin")) return reply;
  reply.headers.push_back({"Access-Control-Allow-Methods", "POST, GET, DELETE"});
  reply.headers.push_back({"Access-Control-Allow-Headers",
                           "Authorization, Content-Type, Accept, Mcp-Session-Id, "
                           "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"});
  reply.headers.push_back({"Access-Control-Max-Age", "600"});
  return reply;
}

}  // namespace cellblock::http
