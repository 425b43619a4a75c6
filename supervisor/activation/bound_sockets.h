#pragma once

#include <optional>

#include "supervisor/activation/socket_path.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// The socket of [metrics]. The socket listens at once: early connections wait for
/// cellblock-metrics.
struct MetricsSocket {
  Fd listener;                      ///< not valid without [metrics]
  std::optional<BoundSocket> file;  ///< of a Unix socket; removed with this
};

/// The sockets of [listen.http].
struct HttpSockets {
  Fd tcp;                                  ///< listens already; not valid: there is none
  std::optional<BoundSocket> unix_socket;  ///< does not listen yet
};

}  // namespace cellblock::daemon
