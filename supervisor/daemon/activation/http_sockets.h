#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/config/config.h"
#include "supervisor/daemon/activation/socket_path.h"

/// What [listen.http] and [metrics] are served on. Bound while the daemon still has its groups.
namespace cellblock::daemon {

/// The socket of [metrics]. It listens at once: early connections wait for cellblock-metrics.
struct MetricsSocket {
  Fd listener;                      ///< not valid without [metrics]
  std::optional<BoundSocket> file;  ///< of a Unix socket; removed with this
};

Result<MetricsSocket> bind_metrics(const Config& config);

struct HttpSockets {
  Fd tcp;                                  ///< listens already; not valid: there is none
  std::optional<BoundSocket> unix_socket;  ///< does not listen yet
};

/// A TCP socket that listens at "127.0.0.1" or "::1". `table` is for complaints: "[listen.http]".
Result<Fd> listen_on_loopback(std::string_view table, std::string_view address, std::uint16_t port);

/// None of both without [listen.http].
Result<HttpSockets> bind_http(const Config& config);

}  // namespace cellblock::daemon
