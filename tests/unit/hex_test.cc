#include "policy/encoding/hex.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace cellblock {
namespace {

constexpr std::array<std::uint8_t, 3> some_bytes{0x00, 0x9f, 0xab};

TEST(Hex, IsTwoLowerCaseDigitsForEachByte) {
  EXPECT_EQ(hex_text(some_bytes), "009fab");
  EXPECT_EQ(hex_text({}), "");
}

TEST(Hex, IsReadBack) {
  std::array<std::uint8_t, 3> bytes{};
  ASSERT_TRUE(read_hex_text("009fab", bytes));
  EXPECT_EQ(bytes, some_bytes);
}

TEST(Hex, IsNotReadWithOtherLettersOrOfAnotherLength) {
  std::array<std::uint8_t, 3> bytes{};
  for (const char* const text : {"009FAB", "009fa", "009fab0", "009fag", ""}) {
    EXPECT_FALSE(read_hex_text(text, bytes)) << text;
  }
}

}  // namespace
}  // namespace cellblock
