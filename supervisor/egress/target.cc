#include "supervisor/egress/target.h"

#include <algorithm>
#include <charconv>

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

}  // namespace cellblock::egress
