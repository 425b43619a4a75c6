#include "policy/base/hidden_characters.h"

#include <algorithm>

namespace cellblock {
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
    {0xFFFE, 0xFFFF},    // no characters
    {0x1BCA0, 0x1BCA3},  // shorthand format controls
    {0x1D159, 0x1D159},  // musical null notehead: invisible
    {0x1D173, 0x1D17A},  // musical format controls
    {0xE0000, 0xE0FFF},  // tags and further variation selectors
};

}  // namespace

bool is_hidden(char32_t value) {
  return std::ranges::any_of(
      hidden, [value](CodePoints range) { return value >= range.first && value <= range.last; });
}

}  // namespace cellblock
