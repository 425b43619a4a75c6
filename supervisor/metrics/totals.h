#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "supervisor/ipc/metrics_page.h"
#include "supervisor/metrics/exposition.h"

namespace cellblock::metrics {

/// The numbers of all gateways together, those that have ended included: a counter does not fall
/// because a user has left. Gauges are of those that run.
class Totals {
 public:
  Totals();

  void set_daemon(MetricsPage page) { daemon_ = std::move(page); }
  void begin(std::uint64_t gateway, MetricsPage page);
  void end(std::uint64_t gateway);

  Snapshot now() const;

 private:
  std::optional<MetricsPage> daemon_;
  std::map<std::uint64_t, MetricsPage> gateways_;
  std::vector<std::uint64_t> kept_;  ///< of those that have ended
  std::vector<bool> is_of_a_gauge_;  ///< by place
};

}  // namespace cellblock::metrics
