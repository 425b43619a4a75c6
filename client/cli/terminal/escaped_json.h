#pragma once

#include <string>
#include <string_view>

namespace cellblock::cli {

/// JSON over several lines, for somebody who has to know all that is in it: as it is written, names
/// that stand there twice and the spelling of numbers included, and whatever is not printable ASCII
/// as an escape, so that nothing can look like something else. What is no JSON is one line.
std::string escaped_json(std::string_view text);

}  // namespace cellblock::cli
