#include "policy/config_check/egress_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "policy/egress/egress_rule.h"

namespace cellblock {
namespace {

constexpr std::size_t most_egress_rules = 256;
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

void add_rule(const Scope& scope, const TextAt& text, Egress& egress) {
  auto rule = parse_egress_rule(text.value);
  if (!rule) return scope.error(text.at, "allow", rule.error().text);
  if (const auto problem = declaration_problem(*rule, text.value); !problem.empty()) {
    scope.error(text.at, "allow", problem);
  } else if (std::ranges::find(egress.allow, *rule) == egress.allow.end()) {
    egress.allow.push_back(std::move(*rule));
  }
}

void check_rules(const Scope& scope, const EgressText& text, Egress& egress) {
  if (text.allow.size() > most_egress_rules) {
    scope.error(
        text.at, "allow",
        fmt::format("has {} entries; allowed: at most {}", text.allow.size(), most_egress_rules));
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
