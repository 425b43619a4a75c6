#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/http_connection/request.h"

/// Which names a request may come to, and from which web pages. Looked at before anything else, so
/// that a page that reached this port by DNS rebinding learns nothing, not even whether it guessed
/// a token. Pure.
namespace cellblock::http {

enum class Transport : std::uint8_t {
  tcp,
  unix_socket,  ///< no name leads here, so `Host` says nothing
};

struct AccessRules {
  std::vector<std::string> hosts;    ///< allowed besides the loopback names
  std::vector<std::string> origins;  ///< allowed besides the server's own
};

/// 403, or nothing.
std::optional<Reply> refuse_stranger(const Request& request, Transport transport,
                                     const AccessRules& rules);

/// The headers that let a page of an allowed origin read the answer; none without an `Origin`.
std::vector<Header> cors_headers(const Request& request);

/// The answer to OPTIONS of a permitted origin.
Reply preflight(const Request& request);

}  // namespace cellblock::http
