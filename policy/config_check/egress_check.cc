#include "policy/config_check/egress_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "policy/base/internet_address.h"
#include "policy/egress/egress_rule.h"
#include "policy/egress/synthetic_range.h"

namespace cellblock {
namespace {

constexpr std::size_t most_rules = 256;
constexpr std::size_t most_ports = 40;  // each is a listening socket of the cell's network
constexpr std::uint16_t dns_port = 53;
constexpr Range<std::int64_t> egress_connections_range{1, 1024};
constexpr Range<std::int64_t> port_range{1, 65'535};
constexpr Range<std::uint64_t> bytes_range{1ULL << 10, 1ULL << 50};

std::set<std::uint16_t> ports_of(const Egress& egress) {
  std::set<std::uint16_t> ports;
  for (const EgressRule& rule : egress.allow) ports.insert(rule.port);
  return ports;
}

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

void add_rule(const Scope& scope, const TextAt& text, Egress& egress) {
  auto rule = parse_egress_rule(text.value);
  if (!rule) return scope.error(text.at, "allow", rule.error().text);
  if (rule->port == dns_port) {
    scope.error(text.at, "allow",
                "port 53 is the cell's own resolver, which asks for names that are allowed here; "
                "allowed: any other port");
  } else if (is_local_name(*rule)) {
    scope.error(
        text.at, "allow",
        fmt::format("\"{}\" means the cell itself; allowed: the range \"127.0.0.1/32:{}\", the "
                    "host's loopback, which the server connects to by address",
                    text.value, rule->port));
  } else if (const auto why = cannot_be_dialled(*rule); !why.empty()) {
    scope.error(text.at, "allow", fmt::format("\"{}\" {}", text.value, why));
  } else if (is_only_synthetic(*rule)) {
    scope.error(text.at, "allow",
                fmt::format("\"{}\" stands for names inside cells (198.18.0.0/15, fd53:6362::/64); "
                            "allowed: any other range",
                            text.value));
  } else if (std::ranges::find(egress.allow, *rule) == egress.allow.end()) {
    egress.allow.push_back(std::move(*rule));
  }
}

void check_rules(const Scope& scope, const EgressText& text, Egress& egress) {
  if (text.allow.size() > most_rules) {
    scope.error(text.at, "allow",
                fmt::format("has {} entries; allowed: at most {}", text.allow.size(), most_rules));
    return;
  }
  for (const TextAt& rule : text.allow) add_rule(scope, rule, egress);
  const std::size_t ports = ports_of(egress).size();
  if (ports <= most_ports) return;
  scope.error(text.at, "allow",
              fmt::format("has {} different ports; allowed: at most {}", ports, most_ports));
}

void check_proxy(const Scope& scope, const Maybe<std::int64_t>& text, Egress& egress) {
  if (!text) return;
  std::uint32_t port = 0;
  check_integer(scope, "proxy", text, port_range, port);
  if (port == 0) return;
  egress.proxy_port = static_cast<std::uint16_t>(port);
  if (port != dns_port && !ports_of(egress).contains(*egress.proxy_port)) return;
  scope.error(text->at, "proxy",
              fmt::format("port {} is taken in the cell, by a port of egress.allow or by its "
                          "resolver; allowed: another one, like 3128",
                          port));
}

}  // namespace

Egress check_egress(const Scope& scope, const ServerText& text, NetworkMode network) {
  const Scope here = scope.below("egress");
  Egress egress;
  if (text.egress) {
    check_rules(here, *text.egress, egress);
    check_integer(here, "max_connections", text.egress->max_connections, egress_connections_range,
                  egress.max_connections);
    if (text.egress->max_bytes) {
      check_size(here, "max_bytes", text.egress->max_bytes, bytes_range,
                 egress.max_bytes.emplace());
    }
    check_proxy(here, text.egress->proxy, egress);
  }
  if (network != NetworkMode::egress) {
    if (text.egress) {
      scope.error(text.egress->at, "egress",
                  "has no effect without network = \"egress\"; allowed: set that, or leave this "
                  "out");
    }
    return {};
  }
  if ((!text.egress || text.egress->allow.empty()) && !here.mentioned("allow")) {
    scope.error(text.egress ? text.egress->at : text.network->at, "egress.allow",
                "names nothing, so nothing can be reached; allowed: { allow = "
                "[\"api.example.org:443\", ...] }, or network = \"none\"");
  }
  return egress;
}

}  // namespace cellblock
