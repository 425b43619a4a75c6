#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "policy/base/result.h"

/// Reads on in a text that is too long for one result. Bounded in time and output for any text and
/// pattern.
namespace cellblock {

struct Page {
  std::string text;
  std::size_t begin = 0;            ///< offset of what was read or searched
  std::size_t end = 0;              ///< past it
  std::optional<std::size_t> next;  ///< where the next page begins; none: this was the last
};

/// At most `limit` bytes (at least 4) from `offset` on, between characters, up to the end of a line
/// where there is one in the last quarter. An offset past the end gives an empty page.
Page page_of(std::string_view text, std::size_t offset, std::size_t limit);

inline constexpr std::size_t longest_page_pattern = 1'024;
/// RE2's instructions. Where its states are too many to keep it walks through all of them at each
/// byte: then a byte costs up to 20 ns for each of them, else 2 to 10 ns.
inline constexpr int largest_pattern_program = 1'000;
/// Bytes searched in one call, for words and alternatives of words, which have few states. For any
/// other pattern it is divided by the number of its instructions, since its states cannot be
/// estimated.
inline constexpr std::size_t most_searched = 4U << 20;
inline constexpr std::size_t least_searched = 4U << 10;
inline constexpr std::size_t longest_shown_line = 400;

/// The lines that match, from `offset` on, each as "OFFSET: line": as many as `limit` has room for.
/// Of a long line what is around the match is shown. `pattern` is RE2's; no match goes on beyond
/// its line, and in a line of more than 16 KiB one of more than 1 KiB may be missed.
Result<Page> matches_in(std::string_view text, std::string_view pattern, std::size_t offset,
                        std::size_t limit);

}  // namespace cellblock
