#include <gtest/gtest.h>

#include "supervisor/daemon/helpers/restart_delay.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr RestartDelay::Time begin{};

TEST(RestartDelay, DoublesWithEachStartUpToItsBound) {
  RestartDelay delay;
  EXPECT_EQ(delay.take(), milliseconds(100));
  EXPECT_EQ(delay.take(), milliseconds(200));
  for (int i = 0; i < 10; ++i) delay.take();
  EXPECT_EQ(delay.take(), RestartDelay::longest);
}

TEST(RestartDelay, BeginsAnewAfterALongLife) {
  RestartDelay delay;
  delay.take();
  delay.started(begin);
  delay.ended(begin + RestartDelay::healthy_life);
  EXPECT_EQ(delay.take(), RestartDelay::first);
}

TEST(RestartDelay, GrowsOnAfterAShortLife) {
  RestartDelay delay;
  delay.take();
  delay.started(begin);
  delay.ended(begin + RestartDelay::healthy_life - milliseconds(1));
  EXPECT_EQ(delay.take(), 2 * RestartDelay::first);
}

TEST(RestartDelay, CountsAnEndWithoutAStartAsAShortLife) {
  RestartDelay delay;
  delay.started(begin);
  delay.ended(begin);
  delay.take();
  delay.ended(begin + 2 * RestartDelay::healthy_life);
  EXPECT_EQ(delay.take(), 2 * RestartDelay::first);
}

}  // namespace
}  // namespace cellblock::daemon
