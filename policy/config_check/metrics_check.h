#pragma once

#include <optional>

#include "policy/config/config.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/config_text.h"

/// [metrics] -> MetricsListen.
namespace cellblock {

struct MetricsSurroundings {
  RunMode mode{};
  const Listen& listen;
  const std::optional<HttpListen>& http;
};

/// Nothing where nothing is declared.
std::optional<MetricsListen> check_metrics(Complaints& complaints, const ConfigText& text,
                                           const MetricsSurroundings& around);

}  // namespace cellblock
