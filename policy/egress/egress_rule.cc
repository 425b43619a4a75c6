#include "policy/egress/egress_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "policy/base/internet_address.h"
#include "policy/egress/egress_policy.h"
#include "policy/egress/special_addresses.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_entry = 300;
constexpr std::string_view allowed =
    "allowed: \"name:port\", \"*.suffix:port\", \"10.0.0.0/8:port\" or \"[fd00::]/8:port\", each "
    "with or without its port (443)";

std::unexpected<Error> bad(std::string_view text, std::string_view problem) {
  return fail(fmt::format("\"{}\" {}; {}", text, problem, allowed));
}

std::optional<unsigned> number_of(std::string_view text, unsigned least, unsigned most) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  if (number < least || number > most) return std::nullopt;
  return number;
}

/// The parts of an entry: [host] or host, /prefix, :port.
struct Parts {
  std::string_view host;
  std::optional<std::string_view> prefix;
  std::optional<std::string_view> port;
  bool in_brackets = false;
};

Parts split(std::string_view text) {
  Parts parts;
  std::string_view rest = text;
  const std::size_t bracket = text.find(']');
  if (text.starts_with('[') && bracket != std::string_view::npos) {
    parts.in_brackets = true;
    parts.host = text.substr(1, bracket - 1);
    rest = text.substr(bracket + 1);
  }
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    parts.port = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    parts.prefix = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  if (!parts.in_brackets) parts.host = rest;
  // "[::1]x": what is between the bracket and the rest belongs nowhere.
  if (parts.in_brackets && !rest.empty()) parts.host = {};
  return parts;
}

std::optional<InternetAddress> address_of(const Parts& parts) {
  const std::string text(parts.host);
  if (text.find('\0') != std::string::npos) return std::nullopt;
  return parts.in_brackets ? parse_ipv6(text) : parse_ipv4(text);
}

bool has_bits_beyond(const InternetAddress& address, std::uint8_t prefix) {
  InternetAddress cut{};
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const std::size_t bits =
        std::min<std::size_t>(prefix - std::min<std::size_t>(prefix, 8 * i), 8);
    cut.at(i) = static_cast<std::uint8_t>(address.at(i) & (0xff00U >> bits));
  }
  return cut != address;
}

// IPv4 addresses are in there as well, which such a text does not say.
bool hides_ipv4(const AddressRange& range) { return overlap(range, every_ipv4); }

Result<EgressRule> parse_range(std::string_view text, const Parts& parts,
                               const InternetAddress& address) {
  const unsigned most = parts.in_brackets ? 128 : 32;
  const auto bits = number_of(parts.prefix.value_or(parts.in_brackets ? "128" : "32"), 0, most);
  if (!bits) return bad(text, fmt::format("has no prefix of 0 to {} bits", most));
  EgressRule rule;
  rule.target = EgressTarget::range;
  rule.address = address;
  rule.prefix = static_cast<std::uint8_t>(*bits + (parts.in_brackets ? 0 : ipv4_bits));
  if (parts.in_brackets && hides_ipv4({address, rule.prefix})) {
    return bad(text,
               "has IPv4 addresses in it, which are written as such "
               "(\"[2000::]/3\" is every public IPv6 address)");
  }
  if (has_bits_beyond(address, rule.prefix)) {
    return bad(text, "has bits set beyond its prefix");
  }
  return rule;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

Result<EgressRule> parse_name(std::string_view text, std::string_view host) {
  if (host == "*") return bad(text, "would be every name there is");
  if (!is_ascii(host)) return bad(text, "is not ASCII: write the name as DNS has it (\"xn--...\")");
  EgressRule rule;
  if (host.starts_with("*.")) {
    rule.target = EgressTarget::suffix;
    host.remove_prefix(2);
  }
  auto name = normal_host_name(host);
  if (!name) return bad(text, "is no host name and no address range");
  rule.host = std::move(*name);
  return rule;
}

// What is left of an address of the web once its host is known: "example.org/path", "a.org:80/x".
bool has_path(const Parts& parts) {
  if (parts.port && parts.port->find('/') != std::string_view::npos) return true;
  return parts.prefix.has_value() && !parts.in_brackets && !address_of(parts);
}

}  // namespace

Result<EgressRule> parse_egress_rule(std::string_view text) {
  if (text.size() > longest_entry) return bad(text.substr(0, 64), "is too long");
  const Parts parts = split(text);
  if (text.find("://") != std::string_view::npos || has_path(parts)) {
    return bad(text, "is a URL or has a path: a host name stands here, not a URL");
  }
  const auto port = number_of(parts.port.value_or("443"), 1, 65'535);
  if (!port) {
    return bad(text, "has no port of 1 to 65535 after its colon (IPv6 goes into brackets)");
  }
  const auto address = address_of(parts);
  const bool is_range = address.has_value() || parts.in_brackets || parts.prefix.has_value();
  if (is_range && !address) return bad(text, "is no address range");
  auto rule = is_range ? parse_range(text, parts, *address) : parse_name(text, parts.host);
  if (rule) rule->port = static_cast<std::uint16_t>(*port);
  return rule;
}

std::string text_of(const EgressRule& rule) {
  if (rule.target == EgressTarget::name) return fmt::format("{}:{}", rule.host, rule.port);
  if (rule.target == EgressTarget::suffix) return fmt::format("*.{}:{}", rule.host, rule.port);
  const std::string address = text_of(rule.address);
  if (is_ipv4(AddressRange{rule.address, rule.prefix})) {
    return fmt::format("{}/{}:{}", address, rule.prefix - ipv4_bits, rule.port);
  }
  return fmt::format("[{}]/{}:{}", address, rule.prefix, rule.port);
}

namespace {

constexpr std::uint16_t dns_port = 53;

// A wider range is not refused: what it has beside them can be reached.
bool is_only_synthetic(const EgressRule& rule) {
  return rule.target == EgressTarget::range && synthetic_range.covers({rule.address, rule.prefix});
}

// Nothing is there: as a destination it is not what it says, but the machine itself.
bool is_unspecified(const AddressRange& range) {
  constexpr AddressRange this_host{ipv4_address(0, 0, 0, 0), ipv4_bits + 8};
  constexpr AddressRange unspecified{{}, 128};
  return contains(this_host, range) || range == unspecified;
}

// An interface has to be named with these, by a scope that an address in a rule has not.
bool needs_scope(const AddressRange& range) {
  constexpr AddressRange link_local{{0xfe, 0x80}, 10};
  return contains(link_local, range);
}

std::string_view cannot_be_dialled(const EgressRule& rule) {
  if (rule.target != EgressTarget::range) return {};
  const AddressRange range{rule.address, rule.prefix};
  if (is_unspecified(range)) {
    return "is no address of anybody; allowed: 127.0.0.1 for the host's loopback, 0.0.0.0/0 for "
           "every IPv4 address";
  }
  if (needs_scope(range)) {
    return "is link-local, which is reached with an interface's name only; allowed: any other "
           "range, like [fd00::]/8";
  }
  return {};
}

// The cell's own name: connecting there never leaves it, and no resolver is asked.
bool is_local_name(const EgressRule& rule) {
  if (rule.target == EgressTarget::range) return false;
  return rule.host == "localhost" || rule.host.ends_with(".localhost");
}

constexpr std::array<std::string_view, 3> proposed_kinds{"private", "loopback",
                                                         "shared by a provider's customers"};

// Clouds hand out a machine's credentials at these, which lie in ranges of another kind.
constexpr std::array<InternetAddress, 2> metadata_services{
    ipv4_address(100, 100, 100, 200),
    InternetAddress{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54},
};

// Why one address is not proposed; empty: it is.
std::string_view unproposed_kind(const InternetAddress& address) {
  const std::string_view kind = special_kind(address);
  if (std::ranges::find(metadata_services, address) != metadata_services.end()) {
    return "cloud metadata";
  }
  const bool is_proposed =
      kind.empty() || std::ranges::find(proposed_kinds, kind) != proposed_kinds.end();
  return is_proposed ? std::string_view() : kind;
}

}  // namespace

std::string declaration_problem(const EgressRule& rule, std::string_view written) {
  if (rule.port == dns_port) {
    return "port 53 is the cell's own resolver, which asks for names that are allowed here; "
           "allowed: any other port";
  }
  if (is_local_name(rule)) {
    return fmt::format(
        "\"{}\" means the cell itself; allowed: the range \"127.0.0.1/32:{}\", the host's "
        "loopback, which the server connects to by address",
        written, rule.port);
  }
  if (const auto why = cannot_be_dialled(rule); !why.empty()) {
    return fmt::format("\"{}\" {}", written, why);
  }
  if (!is_only_synthetic(rule)) return {};
  return fmt::format(
      "\"{}\" stands for names inside cells (198.18.0.0/15, fd53:6362::/64); allowed: any other "
      "range",
      written);
}

EgressProposal propose_egress_rule(std::string_view target) {
  const auto rule = parse_egress_rule(target);
  if (!rule) return {{}, rule.error().text};
  if (auto problem = declaration_problem(*rule, target); !problem.empty()) {
    return {{}, std::move(problem)};
  }
  const bool is_range = rule->target == EgressTarget::range;
  if (const auto kind = is_range ? unproposed_kind(rule->address) : std::string_view();
      !kind.empty()) {
    return {{}, fmt::format("\"{}\" is {}", target, kind)};
  }
  return {text_of(*rule), {}};
}

}  // namespace cellblock
