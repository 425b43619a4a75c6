#include "policy/untrusted/ordinary_use.h"

#include <algorithm>
#include <array>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr char32_t zero_width_non_joiner = 0x200C;
constexpr char32_t zero_width_joiner = 0x200D;
constexpr char32_t text_style = 0xFE0E;
constexpr char32_t emoji_style = 0xFE0F;
constexpr char32_t byte_order_mark = 0xFEFF;
constexpr char32_t keycap = 0x20E3;
constexpr char32_t black_flag = 0x1F3F4;

struct Range {
  char32_t first;
  char32_t last;
};

// Emoji and the symbols among which they stand: no letters, and nothing that texts are drawn of.
constexpr std::array<Range, 17> emoji{{{0xA9, 0xA9},
                                       {0xAE, 0xAE},
                                       {0x203C, 0x203C},
                                       {0x2049, 0x2049},
                                       {0x2122, 0x2122},
                                       {0x2139, 0x2139},
                                       {0x2190, 0x21FF},
                                       {0x2300, 0x23FF},
                                       {0x24C2, 0x24C2},
                                       {0x25A0, 0x27BF},
                                       {0x2934, 0x2935},
                                       {0x2B00, 0x2BFF},
                                       {0x3030, 0x3030},
                                       {0x303D, 0x303D},
                                       {0x3297, 0x3297},
                                       {0x3299, 0x3299},
                                       {0x1F000, 0x1FAFF}}};

// Scripts in whose spelling joiners have a meaning.
constexpr std::array<Range, 9> joined{{{0x0600, 0x08FF},    // Arabic, Syriac, N'Ko
                                       {0x0900, 0x0DFF},    // of India and Sri Lanka
                                       {0x0F00, 0x109F},    // Tibetan, Myanmar
                                       {0x1780, 0x18AF},    // Khmer, Mongolian
                                       {0x1900, 0x1AFF},    // of South-East Asia
                                       {0x1B00, 0x1CFF},    // Balinese and others
                                       {0xA800, 0xABFF},    // Syloti Nagri and others
                                       {0xFB50, 0xFDCF},    // Arabic
                                       {0xFE70, 0xFEFC}}};  // Arabic

template <class Ranges>
bool is_in(const Ranges& ranges, char32_t value) {
  return std::ranges::any_of(
      ranges, [value](Range range) { return value >= range.first && value <= range.last; });
}

// The flags of England, Scotland and Wales: a black flag, these tags, and the tag that ends them.
constexpr std::array<std::string_view, 3> flags{"gbeng", "gbsct", "gbwls"};

void append_tag(std::string& text, char letter) {
  text += "\xF3\xA0";
  text += static_cast<char>(0x80 + (static_cast<unsigned char>(letter) >> 6U));
  text += static_cast<char>(0x80 + (static_cast<unsigned char>(letter) & 0x3FU));
}

std::string tags_of(std::string_view letters) {
  constexpr char end = 0x7F;
  std::string text;
  for (const char letter : letters) append_tag(text, letter);
  append_tag(text, end);
  return text;
}

std::size_t flag_length(std::string_view rest) {
  for (const std::string_view letters : flags) {
    const std::string tags = tags_of(letters);
    if (rest.starts_with(tags)) return tags.size();
  }
  return 0;
}

char32_t first_of(std::string_view text) { return text.empty() ? 0 : first_code_point(text).value; }

bool is_joining(char32_t before, char32_t value, char32_t after) {
  if (is_in(joined, before) && is_in(joined, after)) return true;
  const bool is_part = is_in(emoji, before) || before == emoji_style;
  return value == zero_width_joiner && is_part && is_in(emoji, after);
}

bool is_digit_of_keycap(char32_t before) {
  return (before >= '0' && before <= '9') || before == '#' || before == '*';
}

bool is_ordinary(char32_t before, char32_t value, char32_t after) {
  switch (value) {
    case zero_width_non_joiner:
    case zero_width_joiner:
      return is_joining(before, value, after);
    case text_style:
    case emoji_style:
      return is_in(emoji, before) || (is_digit_of_keycap(before) && after == keycap);
    case byte_order_mark:
      return before == 0;
    default:
      return false;
  }
}

}  // namespace

std::size_t ordinary_use(char32_t before, std::string_view rest) {
  const std::size_t flag = before == black_flag ? flag_length(rest) : 0;
  if (flag > 0) return flag;
  const CodePoint point = first_code_point(rest);
  const char32_t after = first_of(rest.substr(point.length));
  return is_ordinary(before, point.value, after) ? point.length : 0;
}

}  // namespace cellblock
