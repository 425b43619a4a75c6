#pragma once

#include <cstddef>
#include <string_view>

namespace cellblock {

/// The length in bytes of the terminal sequence (ECMA-48) at the beginning of `text`, at most
/// 2,048. `text` begins with a control character, C0 or C1. The length of that character alone if
/// it begins no sequence, or one that does not end.
std::size_t terminal_sequence_length(std::string_view text);

}  // namespace cellblock
