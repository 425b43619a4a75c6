#pragma once

#include <string>
#include <string_view>

#include "policy/base/result.h"

namespace cellblock::cli {

/// JSON with comments and with commas behind last elements, as plain JSON of the same length: both
/// become blanks, so that places in it stay what they were. What is no JSON stays none. An error:
/// deeper than `most` levels, or a comment without an end.
Result<std::string> plain_json(std::string_view text, int most);

}  // namespace cellblock::cli
