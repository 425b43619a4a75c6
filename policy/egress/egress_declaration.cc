#include "policy/egress/egress_declaration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "policy/base/internet_address.h"
#include "policy/egress/egress_rule.h"
#include "policy/egress/special_addresses.h"
#include "policy/egress/synthetic_range.h"

namespace cellblock {
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
