#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/egress/special_addresses.h"

/// What a server's allow-list permits. A rule names a host or a range, always with one port;
/// nothing is allowed by being left out.
namespace cellblock {

/// How many descriptors an egress helper uses at most: its sockets, its resolver's, and five for
/// each connection while it is dialled (two afterwards).
constexpr std::uint64_t egress_files(std::uint32_t max_connections) {
  return 128 + 5ULL * max_connections;
}

inline constexpr std::uint32_t most_egress_connections = 1024;

/// The one spelling that names are compared in: lower case, no dot at the end; letters, digits, '-'
/// and '_' in labels of 1 to 63, at most 253 in all. None for anything else, and for what a lenient
/// reader takes for an IPv4 address (last label a number: "127.1", "0x7f.1", "2130706433").
std::optional<std::string> normal_host_name(std::string_view text);

// In what follows `host` is a normal_host_name().

/// On some port: the question may be answered at all.
bool may_look_up(const Egress& egress, std::string_view host);
bool may_connect_to_name(const Egress& egress, std::string_view host, std::uint16_t port);

/// An address that the server itself wrote.
bool may_connect_to_address(const Egress& egress, const InternetAddress& address,
                            std::uint16_t port);

/// A rule names exactly this: the name itself, not one below a suffix; the address, not a wider
/// range. Without a host it is about the address. There are at most as many of these as rules,
/// whatever a server asks for.
bool is_named_exactly(const Egress& egress, std::string_view host, const InternetAddress& address,
                      std::uint16_t port);

/// An address that an allowed name resolved to: public, or named by a range with this port.
bool may_dial(const Egress& egress, const InternetAddress& address, std::uint16_t port);
/// The same while the port is not known yet.
bool may_dial_on_some_port(const Egress& egress, const InternetAddress& address);

}  // namespace cellblock
