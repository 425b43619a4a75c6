#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Untrusted text as bytes that a reader sees: UTF-8 is read, and what is hidden is written out.
namespace cellblock {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  ///< in bytes; 0: what is there is no UTF-8
};

/// The first character of `text`, which is not empty. Overlong forms, surrogates and values above
/// U+10FFFF are no UTF-8.
CodePoint first_code_point(std::string_view text);

/// Valid Unicode above ASCII that a reader does not see, or that moves, hides or reorders visible
/// text: C1 controls, line and paragraph separators, bidirectional controls, zero-width and other
/// invisible characters, variation selectors, tags, and non-characters.
bool is_hidden(char32_t value);

inline constexpr std::size_t default_printable_limit = 1024;

/// The only way for bytes of a server or a host to reach a terminal, a log or an error sentence.
/// What could move a cursor, hide, reorder or forge text becomes visible: bytes that are no UTF-8
/// and ASCII controls as `\xNN`; C1 controls, line and paragraph separators, bidirectional
/// controls, zero-width and other invisible characters, variation selectors and tags as `\u{…}`.
/// A backslash stays as it is: the aim is a safe line, not one that can be turned back.
///
/// The result is valid UTF-8 and at most `limit` bytes, plus `…[N more bytes]` where it was cut.
std::string printable(std::string_view bytes, std::size_t limit = default_printable_limit);

}  // namespace cellblock
