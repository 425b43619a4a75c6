#include "policy/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/utf8.h"

namespace cellblock {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr Range escaped[] = {
    {0x80, 0x9F},        // C1: U+009B alone begins a terminal sequence
    {0xAD, 0xAD},        // soft hyphen
    {0x34F, 0x34F},      // combining grapheme joiner
    {0x61C, 0x61C},      // Arabic letter mark
    {0x115F, 0x1160},    // Hangul fillers: invisible
    {0x17B4, 0x17B5},    // Khmer inherent vowels: invisible
    {0x180B, 0x180F},    // Mongolian selectors and vowel separator
    {0x200B, 0x200F},    // zero width, left-to-right and right-to-left marks
    {0x2028, 0x202E},    // line and paragraph separators, bidirectional embeddings
    {0x2060, 0x206F},    // word joiner, invisible operators, bidirectional isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xFDD0, 0xFDEF},    // no characters
    {0xFE00, 0xFE0F},    // variation selectors
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFA0, 0xFFA0},    // half-width Hangul filler
    {0xFFF0, 0xFFFB},    // interlinear annotation and its unassigned neighbours
    {0xFFFE, 0xFFFF},    // no characters
    {0x1BCA0, 0x1BCA3},  // shorthand format controls
    {0x1D173, 0x1D17A},  // musical format controls
    {0xE0000, 0xE0FFF},  // tags and further variation selectors
};

bool must_escape(char32_t value) {
  return std::ranges::any_of(
      escaped, [value](Range range) { return value >= range.first && value <= range.last; });
}

struct Piece {
  std::string text;
  std::size_t consumed = 0;
};

Piece escaped_byte(char byte) {
  return {fmt::format("\\x{:02x}", static_cast<unsigned char>(byte)), 1};
}

Piece first_piece(std::string_view rest) {
  const CodePoint point = first_code_point(rest);
  const bool control = point.value < 0x20 || point.value == 0x7F;
  if (point.length == 0 || control) return escaped_byte(rest.front());
  if (must_escape(point.value)) {
    return {fmt::format("\\u{{{:x}}}", static_cast<unsigned>(point.value)), point.length};
  }
  return {std::string{rest.substr(0, point.length)}, point.length};
}

}  // namespace

std::string printable(std::string_view bytes, std::size_t limit) {
  std::string text;
  text.reserve(std::min(bytes.size(), limit));
  while (!bytes.empty()) {
    const Piece piece = first_piece(bytes);
    if (text.size() + piece.text.size() > limit) {
      return text + fmt::format("…[{} more bytes]", bytes.size());
    }
    text += piece.text;
    bytes.remove_prefix(piece.consumed);
  }
  return text;
}

}  // namespace cellblock
