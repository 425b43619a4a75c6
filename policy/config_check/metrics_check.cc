#include "policy/config_check/metrics_check.h"

#include "policy/config_check/socket_check.h"

namespace cellblock {
namespace {

// Below, only root can listen, and cellblockd is not root by then.
constexpr Range<std::int64_t> metrics_port_range{1024, 65'535};

bool is_taken(const std::string& socket, const MetricsSurroundings& around) {
  return socket == around.listen.socket || (around.http && socket == around.http->socket);
}

void check_socket(const Scope& scope, const MetricsText& text, const MetricsSurroundings& around,
                  MetricsListen& metrics) {
  check_path(scope, "socket", text.socket, metrics.socket);
  check_socket_length(scope, "socket", text.socket->at, metrics.socket);
  if (is_taken(metrics.socket, around)) {
    scope.error(text.socket->at, "socket",
                "is the socket of another table already; allowed: one of its own");
  }
  if (around.mode == RunMode::user) metrics.mode = 0600;
  metrics.mode = check_socket_mode(scope, text.mode, metrics.mode);
}

void check_port(const Scope& scope, const MetricsText& text, const MetricsSurroundings& around,
                MetricsListen& metrics) {
  if (text.mode) scope.error(text.mode->at, "mode", "has no meaning without `socket`");
  std::uint32_t port = 0;
  check_integer(scope, "port", text.port, metrics_port_range, port);
  metrics.port = static_cast<std::uint16_t>(port);
  const bool is_of_http =
      around.http && around.http->address == "127.0.0.1" && around.http->port == metrics.port;
  if (is_of_http && port != 0) {
    scope.error(text.port->at, "port", "is that of [listen.http]; allowed: one of its own");
  }
}

}  // namespace

std::optional<MetricsListen> check_metrics(Complaints& complaints, const ConfigText& text,
                                           const MetricsSurroundings& around) {
  if (!text.metrics) return std::nullopt;
  const Scope scope{complaints, text.file, "metrics."};
  const MetricsText& written = *text.metrics;
  MetricsListen metrics;
  if (written.socket && written.port) {
    scope.error(written.port->at, "port", "stands beside `socket`; allowed: one of the two");
  } else if (written.socket) {
    check_socket(scope, written, around, metrics);
  } else if (written.port) {
    check_port(scope, written, around, metrics);
  } else if (!scope.mentioned("socket") && !scope.mentioned("port")) {
    scope.error(written.at, "socket",
                "is missing, and so is `port`; allowed: one of the two, to be scraped at");
  }
  return metrics;
}

}  // namespace cellblock
