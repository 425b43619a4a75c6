#include "supervisor/egress/http_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace cellblock::egress {
namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";
constexpr std::string_view connect = "CONNECT";

std::string response(std::string_view status, std::string_view header, std::string_view text) {
  return fmt::format(
      "HTTP/1.1 {}\r\n{}Content-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n"
      "{}\n",
      status, header, text.size() + 1, text);
}

ProxyStep refuse(std::string reply) {
  return {.kind = ProxyStepKind::refuse, .used = 0, .reply = std::move(reply), .target = {}};
}

ProxyStep malformed() {
  return refuse(response("400 Bad Request", "",
                         "cellblock: this is not a CONNECT request for a host and a port"));
}

ProxyStep wrong_method() {
  return refuse(response("405 Method Not Allowed", "Allow: CONNECT\r\n",
                         "cellblock: this proxy takes CONNECT and SOCKS5 only, also for http://"));
}

struct RequestLine {
  std::string_view method;
  std::string_view target;
  std::string_view version;
};

// Exactly two blanks.
std::optional<RequestLine> split(std::string_view line) {
  if (std::ranges::count(line, ' ') != 2) return std::nullopt;
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  return RequestLine{line.substr(0, first), line.substr(first + 1, second - first - 1),
                     line.substr(second + 1)};
}

bool is_http_1(std::string_view version) { return version == "HTTP/1.1" || version == "HTTP/1.0"; }

struct Answer {
  std::string_view status;
  std::string_view text;
};

Answer answer_for(wire::EgressReason reason) {
  switch (reason) {
    case wire::EgressReason::not_allowed:
      return {"403 Forbidden", "no rule in egress.allow allows this host and port"};
    case wire::EgressReason::private_address:
      return {"403 Forbidden", "the name leads to an address that no range rule names"};
    case wire::EgressReason::out_of_bytes:
      return {"403 Forbidden", "egress.max_bytes is used up"};
    case wire::EgressReason::too_many_connections:
      return {"503 Service Unavailable", "egress.max_connections are open"};
    case wire::EgressReason::not_resolved:
      return {"502 Bad Gateway", "the name could not be resolved"};
    case wire::EgressReason::malformed:
      return {"400 Bad Request", "the request could not be read"};
    default:
      return {"502 Bad Gateway", "the host could not be reached"};
  }
}

}  // namespace

ProxyStep read_http_request(std::string_view received) {
  const std::string_view searched = received.substr(0, max_proxy_request);
  const std::size_t end = searched.find(end_of_head);
  if (end == searched.npos) return {};
  const auto line = split(searched.substr(0, searched.find("\r\n")));
  if (!line || !is_http_1(line->version)) return malformed();
  if (line->method != connect) return wrong_method();
  auto target = parse_authority(line->target);
  if (!target) return malformed();
  return {.kind = ProxyStepKind::connect,
          .used = end + end_of_head.size(),
          .reply = {},
          .target = *std::move(target)};
}

std::string http_success() { return "HTTP/1.1 200 Connection established\r\n\r\n"; }

std::string http_refusal(wire::EgressReason reason) {
  const Answer answer = answer_for(reason);
  return response(answer.status, "", fmt::format("cellblock: {}", answer.text));
}

}  // namespace cellblock::egress
