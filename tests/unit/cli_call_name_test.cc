#include <gmock/gmock.h>

#include "client/cli/commands/call_name.h"

namespace cellblock::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CallName, IsAUidAndANumber) {
  EXPECT_EQ(call_name("1000.3"), (CallName{.uid = 1000, .number = 3}));
  EXPECT_EQ(call_name("root.3"), (CallName{.uid = 0, .number = 3}));
  EXPECT_EQ(text_of({.uid = 1000, .number = 3}), "1000.3");
  for (const char* text : {"3", "1000.", ".3", "1000.0", "1000.3x", "1000.-3", "", "files/read"}) {
    EXPECT_FALSE(call_name(text)) << text;
  }
}

TEST(CallNumber, IsWholeAndNotZero) {
  EXPECT_EQ(call_number("3"), 3U);
  for (const char* text : {"", "0", "3x", "-3", "3.1", "99999999999999999999"}) {
    EXPECT_FALSE(call_number(text)) << text;
  }
}

TEST(CallNumber, NamesTheOnlyCallThatHasIt) {
  EXPECT_EQ(only_one(3, {{1000, 3}}).value(), (CallName{.uid = 1000, .number = 3}));
}

TEST(CallNumber, OfNoCallThatWaitsIsRefused) {
  const auto none = only_one(3, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, client::ErrorCode::refused);
  EXPECT_THAT(none.error().text, HasSubstr("no call \"3\" waits"));
}

TEST(CallNumber, ThatTwoUsersCallsHaveIsRefusedWithBothNames) {
  const auto several = only_one(3, {{1000, 3}, {1001, 3}});
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, client::ErrorCode::invalid_argument);
  EXPECT_THAT(several.error().text, AllOf(HasSubstr("2 users"), HasSubstr("1000.3 or 1001.3")));
}

}  // namespace
}  // namespace cellblock::cli
