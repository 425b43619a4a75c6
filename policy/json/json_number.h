#pragma once

#include <cstddef>
#include <string_view>

/// JSON's grammar for numbers, without their values: cellblock forwards the digits as they are.
namespace cellblock {

/// Longer ones are refused: some parsers take quadratic time for them.
inline constexpr std::size_t max_number_length = 256;

/// `text` is one number of RFC 8259, section 6, of at most max_number_length bytes, and of a
/// magnitude that a double has: `1e400` is an error to some parsers and infinity to others.
bool is_json_number(std::string_view text);

/// A plain integer of at most 2^53-1 in magnitude: what every JSON parser keeps exactly. Not `-0`,
/// `1.0` or `1e2`, which some parsers turn into another spelling.
bool is_exact_integer(std::string_view text);

}  // namespace cellblock
