#include "policy/config_reader/metrics_reader.h"

namespace cellblock {

MetricsText read_metrics(TableReader reader) {
  MetricsText metrics;
  metrics.at = reader.at();
  metrics.socket = reader.text("socket");
  metrics.mode = reader.text("mode");
  metrics.port = reader.integer("port");
  return metrics;
}

}  // namespace cellblock
