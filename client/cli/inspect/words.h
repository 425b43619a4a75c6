#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellblock/error.h"

namespace cellblock::cli {

/// A typed line as words: '…' and "…" keep white space together, a backslash keeps the next
/// character. Where a word begins with `{` it is the rest of the line as it is: JSON has quotes of
/// its own. invalid_argument, if a quote does not end.
client::Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace cellblock::cli
