#pragma once

#include <string>
#include <vector>

#include "cellblock/error.h"

namespace cellblock::cli {

/// One JSON object from `json` (an object, or empty) and `pairs` ("name=value"), which win. A value
/// that reads as JSON is that (`n=3`, `deep=true`, `list=["a"]`), everything else is text.
client::Result<std::string> call_arguments(const std::string& json,
                                           const std::vector<std::string>& pairs);

}  // namespace cellblock::cli
