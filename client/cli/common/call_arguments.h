#pragma once

#include <string>
#include <vector>

#include "cellblock/error.h"

namespace cellblock::cli {

/// One JSON object from `json` (an object, or empty) and `pairs` ("name=value"), which win. A value
/// that is valid JSON is taken as such (`n=3`, `deep=true`, `list=["a"]`), any other as text.
client::Result<std::string> call_arguments(const std::string& json,
                                           const std::vector<std::string>& pairs);

/// The same of the words that follow a tool's name: at most one `{...}`, and name=value, each
/// with or without `--arg` in front.
client::Result<std::string> call_arguments(const std::vector<std::string>& words);

/// Words without the `--arg` that may stand before a pair, or at its beginning (`--arg=a=1`).
std::vector<std::string> without_arg_flags(const std::vector<std::string>& words);

}  // namespace cellblock::cli
