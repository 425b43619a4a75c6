#pragma once

#include <string>
#include <string_view>

namespace cellblock::cli {

/// JSON for a terminal, and still the same JSON: characters that are not seen, or that move, hide
/// or reorder what is, are written as \u escapes. `json` is JSON text as a parser took it.
std::string terminal_json(std::string_view json);

}  // namespace cellblock::cli
