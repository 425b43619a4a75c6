#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "policy/egress/special_addresses.h"

/// The little of RFC 1035 and RFC 6891 that a resolver for one cell needs: one question in, one
/// answer of at most one address out. Compressed names are refused, since no question needs one.
namespace cellblock::egress {

/// Takes big-endian numbers and pieces off the front of hostile bytes. Past the end it gives zeros
/// and empty pieces, and reports it when asked.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t take8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t take16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t take24() { return number(3); }
  std::uint32_t take32() { return number(4); }

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      ran_out_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view piece = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return piece;
  }

  bool ran_out() const { return ran_out_; }
  std::string_view rest() const { return rest_; }
  /// Everything was there, and nothing is left.
  bool is_done() const { return !ran_out_ && rest_.empty(); }

 private:
  std::uint32_t number(std::size_t count) {
    std::uint32_t value = 0;
    for (const char byte : take(count)) value = (value << 8) | static_cast<std::uint8_t>(byte);
    return value;
  }

  std::string_view rest_;
  bool ran_out_ = false;
};

inline void put8(std::string& out, unsigned value) {
  out.push_back(static_cast<char>(static_cast<std::uint8_t>(value)));
}

inline void put16(std::string& out, unsigned value) {
  put8(out, value >> 8);
  put8(out, value);
}

inline void put32(std::string& out, std::uint32_t value) {
  put16(out, value >> 16);
  put16(out, value);
}

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
