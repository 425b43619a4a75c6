#pragma once

#include <cstddef>
#include <string_view>

namespace cellblock {

/// `text` begins with a control character, C0 or C1. The bytes of the terminal sequence (ECMA-48)
/// that it begins: at most 2,048. Of one that does not end, and where none begins, those of the
/// character.
std::size_t terminal_sequence_length(std::string_view text);

}  // namespace cellblock
