#pragma once

#include <optional>

#include "policy/config/config.h"
#include "supervisor/daemon/start/socket_path.h"

/// What [metrics] is served on. Bound while the daemon still has its groups. It listens at once:
/// whoever comes early waits for cellblock-metrics.
namespace cellblock::daemon {

struct MetricsSocket {
  Fd listener;                      ///< not valid without [metrics]
  std::optional<BoundSocket> file;  ///< of a Unix socket; removed with this
};

Result<MetricsSocket> bind_metrics(const Config& config);

}  // namespace cellblock::daemon
