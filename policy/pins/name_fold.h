#pragma once

#include <string>
#include <string_view>

namespace cellblock {

/// What a person or a model takes a name for: without case, width, separators (but those between
/// two digits) and characters that are not seen, and with letters of other scripts that look like
/// Latin ones as those. Two names with one fold are look-alikes. `1`, `l` and `I` are one, and so
/// are `0` and `O`, but in numbers, and in names of less than four letters.
std::string folded(std::string_view name);

/// Whether every byte is ASCII.
bool is_ascii(std::string_view name);

}  // namespace cellblock
