#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/egress/special_addresses.h"

namespace cellblock::egress {

/// Where a connection is to go: a name, or an address if `host` is empty.
struct Target {
  std::string host;  ///< normal_host_name
  InternetAddress address{};
  std::uint16_t port = 0;

  bool has_name() const { return !host.empty(); }
  bool operator==(const Target&) const = default;
};

/// A dotted quad, an RFC 4291 address, or a name; none for every other spelling of a number.
std::optional<Target> parse_host(std::string_view text, std::uint16_t port);

/// "host:port", "1.2.3.4:port", "[2001::1]:port".
std::optional<Target> parse_authority(std::string_view text);

}  // namespace cellblock::egress
