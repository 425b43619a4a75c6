#pragma once

#include "policy/config_reader/metrics_text.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {

MetricsText read_metrics(TableReader reader);

}  // namespace cellblock
