#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/base/internet_address.h"
#include "policy/config/config.h"

/// Addresses that are not the public Internet's: those that stand for names inside a cell, this
/// host's, the local network's, a cloud's own services. A server reaches the latter only where a
/// range of its allow-list names them.
namespace cellblock {

/// The addresses that stand for names inside a cell (RFC 2544 and RFC 4193: assigned to no host).
/// All of them are local there, so a connection to one arrives at a listener of the egress helper,
/// whose own address then tells the name.
struct SyntheticRange {
  InternetAddress ipv4 = ipv4_address(198, 18, 0, 0);
  std::uint8_t ipv4_prefix = ipv4_bits + 15;
  InternetAddress ipv6 = {0xfd, 0x53, 0x63, 0x62};  ///< fd53:6362::
  std::uint8_t ipv6_prefix = 64;

  constexpr AddressRange of_ipv4() const { return {ipv4, ipv4_prefix}; }
  constexpr AddressRange of_ipv6() const { return {ipv6, ipv6_prefix}; }
  constexpr bool has(const InternetAddress& address) const {
    return is_in_range(address, of_ipv4()) || is_in_range(address, of_ipv6());
  }
  /// Whether nothing but these is in `range`, which then can never be reached.
  constexpr bool covers(const AddressRange& range) const {
    return contains(of_ipv4(), range) || contains(of_ipv6(), range);
  }
};

inline constexpr SyntheticRange synthetic_range;

/// The resolver's address in a cell with egress.
inline constexpr InternetAddress cell_resolver = ipv4_address(198, 18, 0, 1);
static_assert(synthetic_range.has(cell_resolver));

/// The one of a cell without a network, for which no name exists: also what C libraries ask where
/// they find no /etc/resolv.conf.
inline constexpr InternetAddress loopback_resolver = ipv4_address(127, 0, 0, 1);

/// "private", "loopback", "link-local", ...; empty: a public address.
std::string_view special_kind(const InternetAddress& address);
bool is_special(const InternetAddress& address);

/// What of these a range has in it, "private, loopback"; empty: public addresses only.
std::string special_kinds(const EgressRule& rule);

}  // namespace cellblock
