#pragma once

#include "policy/config_reader/results_text.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {

ResultBoundsText read_result_bounds(TableReader& reader);
ResultsText read_results(TableReader reader);

}  // namespace cellblock
