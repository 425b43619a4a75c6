#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/egress/special_addresses.h"
#include "supervisor/ipc/wire.h"

/// What a client says to the proxy listener: HTTP CONNECT (RFC 9110 9.3.6), or SOCKS5 without
/// authentication (RFC 1928). Nothing else: an `http://` URL would have to be taken apart and put
/// together again, and a server can CONNECT to port 80 as well.
namespace cellblock::egress {

/// The target of a connection: a name, or an address if `host` is empty.
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

/// A request that is not whole within so much is refused.
inline constexpr std::size_t max_proxy_request = 8192;

enum class ProxyDialect : std::uint8_t { unknown, http, socks };

enum class ProxyStepKind : std::uint8_t {
  need_more,
  answer,   ///< send `reply` and go on
  connect,  ///< to `target`
  refuse,   ///< send `reply`, if any, and close
};

struct ProxyStep {
  ProxyStepKind kind = ProxyStepKind::need_more;
  std::size_t used = 0;  ///< of the bytes given; what follows is the connection's own
  std::string reply;
  Target target;
};

/// Reads one client's request.
class ProxyHandshake {
 public:
  /// `received`: all bytes that have come and that no earlier step used.
  ProxyStep next(std::string_view received);
  ProxyDialect dialect() const { return dialect_; }

 private:
  ProxyStep greet(std::string_view received);

  ProxyDialect dialect_ = ProxyDialect::unknown;
  bool greeted_ = false;
};

/// What the client is told once it is decided.
std::string connected_reply(ProxyDialect dialect);
std::string refused_reply(ProxyDialect dialect, wire::EgressReason reason);

}  // namespace cellblock::egress
