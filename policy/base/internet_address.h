#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// Addresses of both families in one shape, so that rules, ranges and checks need to know one.
namespace cellblock {

/// IPv4 as ::ffff:a.b.c.d.
using InternetAddress = std::array<std::uint8_t, 16>;

/// The place of an IPv4 address in an IPv6 address, in bytes and in bits.
inline constexpr std::size_t ipv4_offset = 12;
inline constexpr std::uint8_t ipv4_bits = 96;

/// The addresses that share the first `prefix` bits of `address`; those behind do not matter.
struct AddressRange {
  InternetAddress address{};
  std::uint8_t prefix = 0;  ///< 0 to 128: an IPv4 /8 is 104
  bool operator==(const AddressRange&) const = default;
};

constexpr InternetAddress ipv4_address(std::uint8_t a, std::uint8_t b, std::uint8_t c,
                                       std::uint8_t d) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
}

inline constexpr AddressRange every_ipv4 = {ipv4_address(0, 0, 0, 0), ipv4_bits};

/// False for a prefix that there is none of.
constexpr bool is_in_range(const InternetAddress& address, const AddressRange& range) {
  if (range.prefix > 8 * address.size()) return false;
  const std::size_t whole = range.prefix / 8U;
  const unsigned rest = range.prefix % 8U;
  if (!std::equal(address.begin(), address.begin() + whole, range.address.begin())) return false;
  return rest == 0 || ((address.at(whole) ^ range.address.at(whole)) >> (8 - rest)) == 0;
}

/// Whether all of `inner` is in `outer`.
constexpr bool contains(const AddressRange& outer, const AddressRange& inner) {
  return inner.prefix >= outer.prefix && is_in_range(inner.address, outer);
}

/// Whether they have an address in common: of two ranges one is then in the other.
constexpr bool overlap(const AddressRange& a, const AddressRange& b) {
  return contains(a, b) || contains(b, a);
}

constexpr bool is_ipv4(const InternetAddress& address) { return is_in_range(address, every_ipv4); }
constexpr bool is_ipv4(const AddressRange& range) { return contains(every_ipv4, range); }

/// "10.1.2.3", and no other spelling of a number. `text` has no NUL in it.
std::optional<InternetAddress> parse_ipv4(const std::string& text);
/// By RFC 4291, without brackets.
std::optional<InternetAddress> parse_ipv6(const std::string& text);

/// "10.1.2.3", "fd00::1"; an IPv4 address always as one.
std::string text_of(const InternetAddress& address);

}  // namespace cellblock
