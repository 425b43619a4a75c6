#include "policy/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace cellblock {
namespace {

struct Lead {
  std::size_t length = 0;
  char32_t bits = 0;
  char32_t smallest = 0;  // below it the form is overlong
};

Lead read_lead(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xE0U) == 0xC0) return {2, byte & 0x1FU, 0x80};
  if ((byte & 0xF0U) == 0xE0) return {3, byte & 0x0FU, 0x800};
  if ((byte & 0xF8U) == 0xF0) return {4, byte & 0x07U, 0x10000};
  return {};
}

bool is_scalar_value(char32_t value) {
  return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const Lead lead = read_lead(static_cast<unsigned char>(text.front()));
  if (lead.length == 0 || lead.length > text.size()) return {};
  char32_t value = lead.bits;
  for (const char c : text.substr(1, lead.length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte & 0x3FU);
  }
  if (value < lead.smallest || !is_scalar_value(value)) return {};
  return {value, lead.length};
}

namespace {

struct CodePoints {
  char32_t first;
  char32_t last;
};

constexpr CodePoints hidden[] = {
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
    {0x2800, 0x2800},    // Braille pattern blank: invisible
    {0x3164, 0x3164},    // Hangul filler
    {0xFDD0, 0xFDEF},    // no characters
    {0xFE00, 0xFE0F},    // variation selectors
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFA0, 0xFFA0},    // half-width Hangul filler
    {0xFFF0, 0xFFFB},    // interlinear annotation and its unassigned neighbours
    {0x13430, 0x1343F},  // hieroglyph format controls
    {0x1BCA0, 0x1BCA3},  // shorthand format controls
    {0x1D159, 0x1D159},  // musical null notehead: invisible
    {0x1D173, 0x1D17A},  // musical format controls
    {0xE0000, 0xE0FFF},  // tags and further variation selectors
};

// The last two of each plane.
bool is_no_character(char32_t value) { return (value & 0xFFFEU) == 0xFFFE; }

}  // namespace

bool is_hidden(char32_t value) {
  return is_no_character(value) || std::ranges::any_of(hidden, [value](CodePoints range) {
           return value >= range.first && value <= range.last;
         });
}

namespace {

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
  if (is_hidden(point.value)) {
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
