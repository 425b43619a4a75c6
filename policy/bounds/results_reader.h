#pragma once

#include "policy/bounds/results_text.h"
#include "policy/toml_reader.h"

namespace cellblock {

ResultBoundsText read_result_bounds(TableReader& reader);
ResultsText read_results(TableReader reader);

}  // namespace cellblock
