#pragma once

#include <optional>

#include "policy/config.h"
#include "supervisor/daemon/socket_path.h"

/// What [listen.http] is served on. Bound while the daemon still has its groups.
namespace cellblock::daemon {

struct HttpSockets {
  Fd tcp;                                  ///< listens already; not valid: there is none
  std::optional<BoundSocket> unix_socket;  ///< does not listen yet
};

/// None of both without [listen.http].
Result<HttpSockets> bind_http(const Config& config);

}  // namespace cellblock::daemon
