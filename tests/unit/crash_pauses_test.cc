#include "client/cli/bridge/crash_pauses.h"

#include <gmock/gmock.h>

namespace cellblock::cli {
namespace {

using std::chrono::milliseconds;

TEST(CrashPauses, DoubleUpToTheLongestAndEnd) {
  CrashPauses pauses;
  milliseconds expected = CrashPauses::shortest;
  for (int i = 0; i < CrashPauses::most_in_a_row; ++i) {
    EXPECT_EQ(pauses.after(milliseconds{1}), expected) << i;
    expected = std::min(2 * expected, CrashPauses::longest);
  }
  EXPECT_EQ(pauses.after(milliseconds{1}), std::nullopt);
}

TEST(CrashPauses, BeginAnewAfterAGatewayThatLived) {
  CrashPauses pauses;
  for (int i = 0; i < CrashPauses::most_in_a_row; ++i) pauses.after(milliseconds{1});
  EXPECT_EQ(pauses.after(CrashPauses::sound), CrashPauses::shortest);
}

}  // namespace
}  // namespace cellblock::cli
