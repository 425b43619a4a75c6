#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/redaction/finding.h"

/// Texts with their escapes undone, and where in the escaped text something stands. What is no
/// escape stays as it is: nothing is refused here.
namespace cellblock {

enum class Escapes {
  json,     ///< `\n`, `\"`, `\u0041`, surrogate pairs
  percent,  ///< `%41`
};

/// Whether there may be any.
bool has_escapes(std::string_view text, Escapes escapes);

std::string unescape(std::string_view text, Escapes escapes);

/// `found` are places of unescape(text), in order: moved to where they stand in `text`. An escape
/// belongs to all that it is for.
void move_to_escaped(std::string_view text, Escapes escapes, std::vector<Finding>& found);

}  // namespace cellblock
