#include <gmock/gmock.h>

#include "policy/config_check/limits_check.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Written written(std::initializer_list<std::pair<const char*, const char*>> keys) {
  Written table;
  for (const auto& [key, text] : keys) table.set(key, Maybe<std::string>({text, {.line = 1}}));
  return table;
}

Written seven_items() {
  Written table;
  table.set("max_items", Maybe<std::int64_t>({7, {}}));
  return table;
}

struct Checked {
  Complaints complaints;
  Scope scope{complaints, "f", ""};
};

TEST(ResultsCheck, WhatIsNotSaidIsTheDefault) {
  Checked checked;
  EXPECT_EQ(check_results(checked.scope, {}).bounds, ResultBounds{});
  EXPECT_EQ(check_results(checked.scope, {}).keeping, ResultKeeping{});
  EXPECT_EQ(ResultBounds{}.max_bytes, 40'000);
}

TEST(ResultsCheck, AServerHasWhatTheMainTableSaysAndAToolWhatItsServerSays) {
  Checked checked;
  const ToolText tool{.name = {"log", {}}, .results = written({{"max_bytes", "5KB"}})};
  const ToolText whole{.name = {"export", {}}, .results = written({{"bounds", "off"}})};
  const auto results = check_server_results(checked.scope, seven_items(), {tool, whole},
                                            {.max_bytes = 30'000, .max_item_bytes = 20'000});
  EXPECT_EQ(results.bounds.max_bytes, 30'000);
  EXPECT_EQ(results.bounds.max_items, 7);
  EXPECT_EQ(bounds_of(results, "log").max_bytes, 5'000);
  EXPECT_EQ(bounds_of(results, "log").max_item_bytes, 5'000);
  EXPECT_EQ(bounds_of(results, "log").max_items, 7);
  EXPECT_EQ(bounds_of(results, "export").bounding, Bounding::off);
  EXPECT_EQ(bounds_of(results, "other"), results.bounds);
  EXPECT_EQ(bounds_of(results, ""), results.bounds);
  EXPECT_FALSE(checked.complaints.has_errors());
}

TEST(ResultsCheck, OneTextMayNotBeLongerThanAllOfThem) {
  Checked checked;
  check_server_results(checked.scope, written({{"max_bytes", "4KiB"}, {"max_item_bytes", "8KiB"}}),
                       {}, {});
  EXPECT_TRUE(checked.complaints.has_errors());
}

TEST(ResultsCheck, BoundsThatLeaveNoRoomForANoteAreRefused) {
  Checked checked;
  check_server_results(checked.scope, written({{"max_bytes", "1KiB"}}), {}, {});
  EXPECT_TRUE(checked.complaints.has_errors());
}

TEST(ResultsCheck, AWordThatIsNoneOfTheTwoIsRefused) {
  Checked checked;
  check_server_results(checked.scope, written({{"bounds", "no"}}), {}, {});
  EXPECT_TRUE(checked.complaints.has_errors());
}

TEST(ResultsCheck, ASessionKeepsNoMoreThanItsUser) {
  Checked checked;
  const auto one = check_results(checked.scope, written({{"kept_bytes", "1GiB"}})).keeping;
  EXPECT_EQ(one.bytes_per_user, 1ULL << 30);
  const auto other =
      check_results(checked.scope, written({{"kept_bytes_per_user", "1MiB"}})).keeping;
  EXPECT_EQ(other.bytes, 1ULL << 20);
  EXPECT_FALSE(checked.complaints.has_errors());
  check_results(checked.scope, written({{"kept_bytes", "2MiB"}, {"kept_bytes_per_user", "1MiB"}}));
  EXPECT_TRUE(checked.complaints.has_errors());
}

TEST(ResultsCheck, AServerWithAllBoundsOffBoundsNothing) {
  const ResultBounds off{.bounding = Bounding::off};
  EXPECT_FALSE(bounds_any({.bounds = off}));
  EXPECT_TRUE(bounds_any({.bounds = off, .tools = {{"log", {}}}}));
  EXPECT_TRUE(bounds_any({}));
}

}  // namespace
}  // namespace cellblock
