#include "policy/config_check/metrics_check.h"

#include "policy/config/installation_keys.h"
#include "policy/config_check/key_reader.h"
#include "policy/config_check/socket_check.h"

namespace cellblock {
namespace {

bool is_taken(const std::string& socket, const MetricsSurroundings& around) {
  return socket == around.listen.socket || (around.http && socket == around.http->socket);
}

void check_socket(const Scope& scope, const Written& written, const MetricsSurroundings& around,
                  MetricsListen& metrics) {
  check_socket_length(scope, "socket", written.at("socket"), metrics.socket);
  if (is_taken(metrics.socket, around)) {
    scope.error(written.at("socket"), "socket",
                "is the socket of another table already; allowed: one of its own");
  }
  if (around.mode == RunMode::user) metrics.mode = 0600;
  metrics.mode = check_socket_mode(scope, written.text("mode"), metrics.mode);
}

void check_port(const Scope& scope, const Written& written, const MetricsSurroundings& around,
                const MetricsListen& metrics) {
  if (written.has("mode")) {
    scope.error(written.at("mode"), "mode", "has no meaning without `socket`");
  }
  const bool is_of_http =
      around.http && around.http->address == "127.0.0.1" && around.http->port == metrics.port;
  if (is_of_http && metrics.port != 0) {
    scope.error(written.at("port"), "port", "is that of [listen.http]; allowed: one of its own");
  }
}

}  // namespace

std::optional<MetricsListen> check_metrics(Complaints& complaints, const ConfigText& text,
                                           const MetricsSurroundings& around) {
  if (!text.metrics) return std::nullopt;
  const Scope scope{complaints, text.file, "metrics."};
  const Written& written = *text.metrics;
  MetricsListen metrics;
  read_keys(scope, written, metrics);
  if (written.has("socket") && written.has("port")) {
    scope.error(written.at("port"), "port", "stands beside `socket`; allowed: one of the two");
  } else if (written.has("socket")) {
    check_socket(scope, written, around, metrics);
  } else if (written.has("port")) {
    check_port(scope, written, around, metrics);
  } else if (!scope.mentioned("socket") && !scope.mentioned("port")) {
    scope.error(written.at(), "socket",
                "is missing, and so is `port`; allowed: one of the two, to be scraped at");
  }
  return metrics;
}

}  // namespace cellblock
