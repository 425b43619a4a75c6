#include "policy/egress/special_addresses.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

namespace cellblock {
namespace {

struct Special {
  AddressRange range;
  std::string_view kind;
};

constexpr Special v4(std::array<std::uint8_t, 4> bytes, std::uint8_t prefix,
                     std::string_view kind) {
  return {{ipv4_address(bytes[0], bytes[1], bytes[2], bytes[3]),
           static_cast<std::uint8_t>(ipv4_bits + prefix)},
          kind};
}

constexpr Special v6(std::initializer_list<std::uint16_t> groups, std::uint8_t prefix,
                     std::string_view kind) {
  Special special{{{}, prefix}, kind};
  std::size_t i = 0;
  for (const std::uint16_t group : groups) {
    special.range.address[i++] = static_cast<std::uint8_t>(group >> 8);
    special.range.address[i++] = static_cast<std::uint8_t>(group & 0xffU);
  }
  return special;
}

constexpr std::string_view own = "private";
constexpr std::string_view loopback = "loopback";
constexpr std::string_view link_local = "link-local, cloud metadata";
constexpr std::string_view reserved = "reserved";

// The special-purpose registries of RFC 6890, and what clouds have taken beside them.
constexpr Special specials[] = {
    v4({0, 0, 0, 0}, 8, "this host"),
    v4({10, 0, 0, 0}, 8, own),
    v4({100, 64, 0, 0}, 10, "shared by a provider's customers"),
    v4({127, 0, 0, 0}, 8, loopback),
    v4({168, 63, 129, 16}, 32, "cloud metadata"),
    v4({169, 254, 0, 0}, 16, link_local),
    v4({172, 16, 0, 0}, 12, own),
    v4({192, 0, 0, 0}, 24, reserved),
    v4({192, 0, 2, 0}, 24, reserved),
    v4({192, 88, 99, 0}, 24, reserved),
    v4({192, 168, 0, 0}, 16, own),
    {synthetic_range.of_ipv4(), "the cell's own"},
    v4({198, 51, 100, 0}, 24, reserved),
    v4({203, 0, 113, 0}, 24, reserved),
    v4({224, 0, 0, 0}, 4, "multicast"),
    v4({240, 0, 0, 0}, 4, reserved),
    v6({}, 127, loopback),
    v6({0x2001}, 23, reserved),  // Teredo and others that lead to an IPv4 address
    v6({0x2001, 0x0db8}, 32, reserved),
    v6({0x2002}, 16, "6to4"),
    v6({0x3fff}, 20, reserved),
    v6({0xfc00}, 7, own),
    v6({0xfe80}, 10, link_local),
    v6({0xff00}, 8, "multicast"),
};

constexpr AddressRange public_v6 = v6({0x2000}, 3, "").range;
constexpr AddressRange nat64 = v6({0x64, 0xff9b}, 96, "").range;

// A host without IPv4 reaches the IPv4 Internet through these (RFC 6052): judged as what they
// carry.
InternetAddress carried_by(const InternetAddress& address) {
  return ipv4_address(address[12], address[13], address[14], address[15]);
}

// Outside of it nothing is public, whether it is in the list above or not.
bool is_within_public(const AddressRange& range) {
  return is_ipv4(range) || contains(public_v6, range);
}

// The same of a range; of a wider one, all that there is.
AddressRange carried_by(const AddressRange& range) {
  return contains(nat64, range) ? AddressRange{carried_by(range.address), range.prefix}
                                : every_ipv4;
}

void add_once(std::string& list, std::string_view word) {
  if (list.find(word) != std::string::npos) return;
  if (!list.empty()) list += ", ";
  list += word;
}

std::string listed_kinds(const AddressRange& range) {
  std::string kinds;
  for (const Special& special : specials) {
    if (overlap(special.range, range)) add_once(kinds, special.kind);
  }
  return kinds;
}

}  // namespace

std::string_view special_kind(const InternetAddress& address) {
  if (is_in_range(address, nat64)) return special_kind(carried_by(address));
  for (const Special& special : specials) {
    if (is_in_range(address, special.range)) return special.kind;
  }
  return is_within_public({address, 128}) ? std::string_view() : reserved;
}

bool is_special(const InternetAddress& address) { return !special_kind(address).empty(); }

std::string special_kinds(const EgressRule& rule) {
  const AddressRange range{rule.address, rule.prefix};
  std::string carried;
  if (overlap(nat64, range)) carried = listed_kinds(carried_by(range));
  if (!carried.empty()) carried = "IPv4 by NAT64: " + carried;
  if (contains(nat64, range)) return carried;
  std::string kinds = listed_kinds(range);
  if (kinds.empty() && !is_within_public(range)) kinds = reserved;
  if (!carried.empty()) kinds += "; " + carried;
  return kinds;
}

}  // namespace cellblock
