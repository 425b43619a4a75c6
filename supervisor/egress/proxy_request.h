#pragma once

#include <string>
#include <string_view>

#include "supervisor/egress/proxy_step.h"

/// What a client says to the proxy listener: HTTP CONNECT (RFC 9110 9.3.6), or SOCKS5 without
/// authentication (RFC 1928). Nothing else: an `http://` URL would have to be taken apart and put
/// together again, and a server can CONNECT to port 80 as well.
namespace cellblock::egress {

/// One client's way to its request.
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
