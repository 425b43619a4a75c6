#pragma once

#include "policy/metrics/metrics_text.h"
#include "policy/toml_reader.h"

namespace cellblock {

MetricsText read_metrics(TableReader reader);

}  // namespace cellblock
