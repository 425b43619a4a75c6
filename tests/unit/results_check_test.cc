#include "policy/config_check/results_check.h"

#include <gmock/gmock.h>

namespace cellblock {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Maybe<std::string> text(std::string value) {
  return Located<std::string>{std::move(value), {.line = 1}};
}

struct Checked {
  Complaints complaints;
  Scope scope{complaints, "f", ""};
};

TEST(ResultsCheck, WhatIsNotSaidIsTheDefault) {
  Checked checked;
  EXPECT_EQ(check_default_bounds(checked.scope, {}), ResultBounds{});
  EXPECT_EQ(check_keeping(checked.scope, {}), ResultKeeping{});
  EXPECT_EQ(ResultBounds{}.max_bytes, 40'000);
}

TEST(ResultsCheck, AServerHasWhatTheMainTableSaysAndAToolWhatItsServerSays) {
  Checked checked;
  ToolCallsText tool{.name = {"log", {}}};
  tool.results.emplace().max_bytes = text("5KB");
  ToolCallsText whole{.name = {"export", {}}};
  whole.results.emplace().bounds = text("off");
  const auto results = check_server_results(checked.scope, {.max_items = {{7, {}}}}, {tool, whole},
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
  check_server_results(checked.scope, {.max_bytes = text("4KiB"), .max_item_bytes = text("8KiB")},
                       {}, {});
  EXPECT_TRUE(checked.complaints.has_errors());
}

TEST(ResultsCheck, BoundsThatLeaveNoRoomForANoteAreRefused) {
  Checked checked;
  check_server_results(checked.scope, {.max_bytes = text("1KiB")}, {}, {});
  EXPECT_TRUE(checked.complaints.has_errors());
}

TEST(ResultsCheck, AWordThatIsNoneOfTheTwoIsRefused) {
  Checked checked;
  check_server_results(checked.scope, {.bounds = text("no")}, {}, {});
  EXPECT_TRUE(checked.complaints.has_errors());
}

TEST(ResultsCheck, ASessionKeepsNoMoreThanItsUser) {
  Checked checked;
  const auto one = check_keeping(checked.scope, {.kept_bytes = text("1GiB")});
  EXPECT_EQ(one.bytes_per_user, 1ULL << 30);
  const auto other = check_keeping(checked.scope, {.kept_bytes_per_user = text("1MiB")});
  EXPECT_EQ(other.bytes, 1ULL << 20);
  EXPECT_FALSE(checked.complaints.has_errors());
  check_keeping(checked.scope, {.kept_bytes = text("2MiB"), .kept_bytes_per_user = text("1MiB")});
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
