#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "policy/egress/special_addresses.h"

/// The little of RFC 1035 and RFC 6891 that a resolver for one cell needs: one question in, one
/// answer of at most one address out. Compressed names are refused, since no question needs one.
namespace cellblock::egress {

inline constexpr std::uint16_t type_a = 1;
inline constexpr std::uint16_t type_aaaa = 28;

enum class DnsCode : std::uint8_t {
  no_error = 0,
  format_error = 1,
  server_failure = 2,
  name_error = 3,  ///< NXDOMAIN
  not_implemented = 4,
  refused = 5,
};

struct DnsQuestion {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  bool has_edns = false;
  std::uint16_t type = 0;
  std::string raw;                  ///< the question as it came, to be echoed with its capitals
  std::optional<std::string> name;  ///< normal_host_name; none: no host can have such a name
};

/// Why there is no question in a message, and what its sender is told.
struct DnsBadQuestion {
  std::optional<DnsCode> code;  ///< none: no answer at all
  std::uint16_t id = 0;
};

std::expected<DnsQuestion, DnsBadQuestion> parse_question(std::string_view message);

/// The time for which a client may keep an answer, in seconds. Short, since it says nothing: the
/// name is resolved again for each connection.
inline constexpr std::uint32_t answer_ttl = 30;

/// Never longer than 512 bytes. `address` must suit the type that was asked for.
std::string dns_reply(const DnsQuestion& question, DnsCode code,
                      const std::optional<InternetAddress>& address = {});
std::string dns_reply(const DnsBadQuestion& bad);  ///< with a code

}  // namespace cellblock::egress
