#include "policy/base/trimmed.h"

#include <gtest/gtest.h>

namespace cellblock {
namespace {

TEST(Trimmed, LeavesTheBlanksInside) { EXPECT_EQ(trimmed(" \ta b\r\n"), "a b"); }

TEST(Trimmed, IsEmptyWhereThereAreOnlyBlanks) {
  EXPECT_EQ(trimmed(" \t\r\n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Trimmed, TakesTheBlanksThatAreNamed) { EXPECT_EQ(trimmed(" \r a\r ", " "), "\r a\r"); }

}  // namespace
}  // namespace cellblock
