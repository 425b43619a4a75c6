#include "supervisor/launcher/run/denial_counts.h"

#include <gtest/gtest.h>

namespace cellblock::launcher {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds begin{1'000'000};

wire::Denial denial(std::int32_t number, std::uint32_t word = 0) {
  return {.syscall_number = number, .error = 1, .words = {word}, .count = 1};
}

TEST(DenialCounts, TellTheFirstOfAKindAtOnce) {
  DenialCounts counts;
  counts.add(denial(41, 2));
  const auto told = counts.due(begin);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->syscall_number, 41);
  EXPECT_EQ(told->words[0], 2U);
  EXPECT_EQ(told->count, 1U);
  EXPECT_FALSE(counts.due(begin).has_value());
}

TEST(DenialCounts, TellOfAFloodInOneRecord) {
  DenialCounts counts;
  for (int i = 0; i < 100'000; ++i) counts.add(denial(165));
  EXPECT_EQ(counts.due(begin)->count, 100'000U);
  EXPECT_TRUE(counts.empty());
}

TEST(DenialCounts, TellApartWhatWasAskedFor) {
  DenialCounts counts;
  counts.add(denial(41, 1));
  counts.add(denial(41, 40));
  counts.add(denial(41, 1));
  EXPECT_EQ(counts.due(begin)->count, 2U);
  EXPECT_EQ(counts.due(begin)->words[0], 40U);
}

TEST(DenialCounts, TellNoMoreThanTenRecordsASecond) {
  DenialCounts counts;
  int told = 0;
  for (int step = 0; step < 1000; ++step) {
    counts.add(denial(1));
    while (counts.due(begin + milliseconds(step))) ++told;
  }
  EXPECT_GE(told, 10);
  EXPECT_LE(told, 20);  // what was saved up, and what was earned
}

TEST(DenialCounts, HoldNoMoreKindsThanTheirTable) {
  DenialCounts counts;
  for (int number = 0; number < 10'000; ++number) counts.add(denial(number));
  std::uint64_t kinds = 0;
  std::uint64_t calls = 0;
  std::uint64_t nameless = 0;
  while (const auto record = counts.next()) {
    ++kinds;
    calls += record->count;
    if (record->syscall_number == -1) nameless = record->count;
  }
  EXPECT_EQ(kinds, DenialCounts::most_kinds);
  EXPECT_EQ(calls, 10'000U);
  EXPECT_EQ(nameless, 10'000U - (DenialCounts::most_kinds - 1));
}

TEST(DenialCounts, DoNotWrapAround) {
  DenialCounts counts;
  wire::Denial many = denial(1);
  many.count = 0xffff'fff0;
  counts.add(many);
  counts.add(many);
  EXPECT_EQ(counts.next()->count, 0xffff'ffffU);
}

TEST(RateBudget, LetsABurstThroughAndThenSoManyASecond) {
  RateBudget budget(100, 50);
  int taken = 0;
  while (budget.take(begin)) ++taken;
  EXPECT_EQ(taken, 50);
  EXPECT_FALSE(budget.take(begin + milliseconds(9)));
  EXPECT_TRUE(budget.take(begin + milliseconds(10)));
  EXPECT_FALSE(budget.take(begin + milliseconds(10)));
}

TEST(RateBudget, SavesNoMoreThanItsBurst) {
  RateBudget budget(100, 5);
  int taken = 0;
  while (budget.take(begin + std::chrono::hours(1000))) ++taken;
  EXPECT_EQ(taken, 5);
}

TEST(RateBudget, GainsNothingFromAClockThatGoesBack) {
  RateBudget budget(1000, 1);
  EXPECT_TRUE(budget.take(begin));
  EXPECT_FALSE(budget.take(begin - milliseconds(100)));
}

}  // namespace
}  // namespace cellblock::launcher
