#include "policy/base/printable.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace cellblock {
namespace {

struct Row {
  std::string_view bytes;
  std::string_view shown;
};

using namespace std::string_view_literals;

constexpr Row rows[] = {
    {"", ""},
    {"plain text, 100 % (ok) C:\\dir", "plain text, 100 % (ok) C:\\dir"},
    {"Grüße 日本語 😀", "Grüße 日本語 😀"},
    {"a\0b"sv, "a\\x00b"},
    {"a\tb\nc\r", "a\\x09b\\x0ac\\x0d"},
    {"\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"},
    {"\x7f", "\\x7f"},
    {"\x80\x9b\xff", "\\x80\\x9b\\xff"},
    {"\xc2\x9b"
     "31m",
     "\\u{9b}31m"},
    {"\xc2\x85", "\\u{85}"},
    {"\xc2\xad", "\\u{ad}"},
    {"a\u202e"
     "b\u2066"
     "c\u200f",
     "a\\u{202e}b\\u{2066}c\\u{200f}"},
    {"a\u200b\u200d\u2060\ufeff", "a\\u{200b}\\u{200d}\\u{2060}\\u{feff}"},
    {"\u2028\u2029", "\\u{2028}\\u{2029}"},
    {"\U000e0041\U000e007f\U000e0101", "\\u{e0041}\\u{e007f}\\u{e0101}"},
    {"x\ufe0f", "x\\u{fe0f}"},
    {"\u2800\U0001d159", "\\u{2800}\\u{1d159}"},
    {"\uffff", "\\u{ffff}"},
    {"\xc0\x80", "\\xc0\\x80"},
    {"\xe0\x80\x80", "\\xe0\\x80\\x80"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
    {"\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
    {"\xe2\x82", "\\xe2\\x82"},
    {"\xe2\x82z", "\\xe2\\x82z"},
    {"\xf0\x9f\x98", "\\xf0\\x9f\\x98"},
};

TEST(Printable, MakesVisibleWhatCouldMoveHideOrForge) {
  for (const Row& row : rows) EXPECT_EQ(printable(row.bytes), row.shown);
}

TEST(Printable, EscapesEveryControlByte) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string shown = printable(std::string(1, static_cast<char>(byte)));
    const bool harmless = byte >= 0x20 && byte < 0x7f;
    EXPECT_EQ(shown.size(), harmless ? 1U : 4U) << byte;
  }
}

TEST(Printable, ChangesNothingTheSecondTime) {
  for (const Row& row : rows) EXPECT_EQ(printable(row.shown), row.shown);
}

TEST(Printable, CutsVisiblyAndBetweenCharacters) {
  EXPECT_EQ(printable("12345", 5), "12345");
  EXPECT_EQ(printable("123456", 5), "12345…[1 more bytes]");
  EXPECT_EQ(printable("1234é6", 5), "1234…[3 more bytes]");
  EXPECT_EQ(printable("1234\x1b[m", 5), "1234…[3 more bytes]");
  EXPECT_EQ(printable("abc", 0), "…[3 more bytes]");
}

TEST(Printable, BoundsWhatItIsNotToldToBound) {
  EXPECT_LT(printable(std::string(1U << 20, '\x01')).size(), default_printable_limit + 40);
}

}  // namespace
}  // namespace cellblock
