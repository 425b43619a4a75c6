#include "supervisor/daemon/start/metrics_socket.h"

#include <sys/socket.h>

#include <utility>

#include "supervisor/daemon/start/http_sockets.h"

namespace cellblock::daemon {
namespace {

constexpr int backlog = 16;

}  // namespace

Result<MetricsSocket> bind_metrics(const Config& config) {
  MetricsSocket made;
  if (!config.metrics) return made;
  if (config.metrics->socket.empty()) {
    made.listener =
        CELLBLOCK_TRY(listen_on_loopback("[metrics]", "127.0.0.1", config.metrics->port));
    return made;
  }
  Listen as_socket;
  as_socket.socket = config.metrics->socket;
  as_socket.mode = config.metrics->mode;
  BoundSocket bound = CELLBLOCK_TRY(BoundSocket::bind(as_socket));
  made.listener = bound.take();
  made.file.emplace(std::move(bound));
  if (::listen(made.listener.get(), backlog) < 0) return sys_fail("listen");
  return made;
}

}  // namespace cellblock::daemon
