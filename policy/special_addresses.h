#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/config.h"

/// Addresses that are not the public Internet's: this host's, the local network's, a cloud's own
/// services. A server reaches them only where a range of its allow-list names them.
namespace cellblock {

/// IPv4 as ::ffff:a.b.c.d.
using InternetAddress = std::array<std::uint8_t, 16>;

bool is_in_range(const InternetAddress& address, const InternetAddress& range, std::uint8_t prefix);

/// "private", "loopback", "link-local", ...; empty: a public address.
std::string_view special_kind(const InternetAddress& address);
bool is_special(const InternetAddress& address);

/// What of these a range has in it, "private, loopback"; empty: public addresses only.
std::string special_kinds(const EgressRule& range);

}  // namespace cellblock
