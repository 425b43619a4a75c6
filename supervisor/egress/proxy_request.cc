#include "supervisor/egress/proxy_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "policy/egress/dns_message.h"
#include "policy/egress/egress_policy.h"

namespace cellblock::egress {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// inet_pton reads up to a NUL.
bool has_nul(std::string_view text) { return text.find('\0') != text.npos; }

std::optional<Target> bracketed(std::string_view host, std::uint16_t port) {
  const auto address = parse_ipv6(std::string(host));
  if (!address) return std::nullopt;
  return Target{.host = {}, .address = *address, .port = port};
}

}  // namespace

std::optional<Target> parse_host(std::string_view text, std::uint16_t port) {
  if (has_nul(text) || port == 0) return std::nullopt;
  const std::string copy(text);
  auto address = parse_ipv4(copy);
  if (!address) address = parse_ipv6(copy);
  if (address) return Target{.host = {}, .address = *address, .port = port};
  auto name = normal_host_name(text);
  if (!name) return std::nullopt;
  return Target{.host = *std::move(name), .address = {}, .port = port};
}

std::optional<Target> parse_authority(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || has_nul(text)) return std::nullopt;
  const auto port = parse_port(text.substr(colon + 1));
  const std::string_view host = text.substr(0, colon);
  if (!port) return std::nullopt;
  if (host.starts_with('[') && host.ends_with(']')) {
    return bracketed(host.substr(1, host.size() - 2), *port);
  }
  // Without brackets it is not clear where an IPv6 address ends and the port begins.
  if (host.find(':') != host.npos) return std::nullopt;
  return parse_host(host, *port);
}

namespace {

// HTTP CONNECT.

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

// SOCKS5.

constexpr std::uint8_t version = 5;
constexpr std::uint8_t connect_command = 1;
constexpr char no_authentication = 0;
constexpr unsigned no_acceptable_method = 0xff;

// Whatever the client wrote, so not an enumeration.
using AddressType = std::uint8_t;
constexpr AddressType type_ipv4 = 1;
constexpr AddressType type_name = 3;
constexpr AddressType type_ipv6 = 4;

enum class Reply : std::uint8_t {
  succeeded = 0,
  general_failure = 1,
  not_allowed = 2,
  host_unreachable = 4,
  command_not_supported = 7,
  address_type_not_supported = 8,
};

// With 0.0.0.0:0 for the address that was bound: no client needs to know ours.
std::string reply(Reply code) {
  std::string out;
  put8(out, version);
  put8(out, static_cast<unsigned>(code));
  out.append({0, 1, 0, 0, 0, 0, 0, 0});
  return out;
}

ProxyStep refuse_socks(std::string answer) {
  return {.kind = ProxyStepKind::refuse, .used = 0, .reply = std::move(answer), .target = {}};
}

// The reader stands behind the address type.
std::optional<Target> take_target(ByteReader& reader, AddressType type) {
  std::string_view name;
  InternetAddress address = every_ipv4.address;
  if (type == type_name) {
    name = reader.take(reader.take8());
  } else {
    const std::string_view bytes = reader.take(type == type_ipv4 ? 4 : 16);
    std::ranges::copy(bytes, address.end() - static_cast<std::ptrdiff_t>(bytes.size()));
  }
  const std::uint16_t port = reader.take16();
  if (reader.ran_out()) return std::nullopt;
  if (type == type_name) return parse_host(name, port);
  return port == 0 ? std::nullopt : std::optional(Target{.address = address, .port = port});
}

bool is_known(AddressType type) {
  return type == type_ipv4 || type == type_ipv6 || type == type_name;
}

// Bytes in front of the address, of the address, and of the port; as far as they are there.
std::size_t request_size(std::string_view received, AddressType type) {
  constexpr std::size_t head = 4;
  constexpr std::size_t port = 2;
  if (type == type_ipv4) return head + 4 + port;
  if (type == type_ipv6) return head + 16 + port;
  const std::size_t length = received.size() > head ? static_cast<std::uint8_t>(received[head]) : 0;
  return head + 1 + length + port;
}

ProxyStep read_socks_greeting(std::string_view received) {
  ByteReader reader(received);
  const bool is_socks5 = reader.take8() == version;
  const std::string_view methods = reader.take(reader.take8());
  if (reader.ran_out()) return {};
  std::string answer;
  put8(answer, version);
  if (!is_socks5 || methods.find(no_authentication) == methods.npos) {
    put8(answer, no_acceptable_method);
    return refuse_socks(std::move(answer));
  }
  put8(answer, 0);
  return {.kind = ProxyStepKind::answer,
          .used = received.size() - reader.rest().size(),
          .reply = std::move(answer),
          .target = {}};
}

ProxyStep read_socks_request(std::string_view received) {
  ByteReader reader(received);
  const bool is_socks5 = reader.take8() == version;
  const std::uint8_t command = reader.take8();
  const bool is_plain = reader.take8() == 0;
  const AddressType type = reader.take8();
  if (reader.ran_out()) return {};
  if (!is_socks5 || !is_plain) return refuse_socks(reply(Reply::general_failure));
  if (command != connect_command) return refuse_socks(reply(Reply::command_not_supported));
  if (!is_known(type)) return refuse_socks(reply(Reply::address_type_not_supported));
  const std::size_t size = request_size(received, type);
  if (received.size() < size) return {};
  auto target = take_target(reader, type);
  if (!target) return refuse_socks(reply(Reply::not_allowed));
  return {.kind = ProxyStepKind::connect, .used = size, .reply = {}, .target = *std::move(target)};
}

std::string socks_success() { return reply(Reply::succeeded); }

std::string socks_refusal(wire::EgressReason reason) {
  switch (reason) {
    case wire::EgressReason::not_allowed:
    case wire::EgressReason::private_address:
    case wire::EgressReason::out_of_bytes:
      return reply(Reply::not_allowed);
    case wire::EgressReason::not_resolved:
    case wire::EgressReason::unreachable:
      return reply(Reply::host_unreachable);
    default:
      return reply(Reply::general_failure);
  }
}

constexpr char socks_version = 5;
constexpr char oldest_socks = 4;

}  // namespace

ProxyStep ProxyHandshake::next(std::string_view received) {
  if (received.empty()) return {};
  if (dialect_ == ProxyDialect::unknown) {
    // SOCKS4 has no names of its own to check, and nothing that speaks it would understand HTTP.
    if (received[0] == oldest_socks) return {.kind = ProxyStepKind::refuse};
    dialect_ = received[0] == socks_version ? ProxyDialect::socks : ProxyDialect::http;
  }
  ProxyStep step = dialect_ == ProxyDialect::http ? read_http_request(received)
                   : greeted_                     ? read_socks_request(received)
                                                  : greet(received);
  if (step.kind == ProxyStepKind::need_more && received.size() >= max_proxy_request) {
    return {.kind = ProxyStepKind::refuse,
            .reply = refused_reply(dialect_, wire::EgressReason::malformed)};
  }
  return step;
}

ProxyStep ProxyHandshake::greet(std::string_view received) {
  ProxyStep step = read_socks_greeting(received);
  greeted_ = step.kind == ProxyStepKind::answer;
  return step;
}

std::string connected_reply(ProxyDialect dialect) {
  return dialect == ProxyDialect::socks ? socks_success() : http_success();
}

std::string refused_reply(ProxyDialect dialect, wire::EgressReason reason) {
  return dialect == ProxyDialect::socks ? socks_refusal(reason) : http_refusal(reason);
}

}  // namespace cellblock::egress
