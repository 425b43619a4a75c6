#include <gtest/gtest.h>
#include <unistd.h>

#include "supervisor/os/event_loop.h"

namespace cellblock {
namespace {

constexpr Milliseconds hour{3'600'000};

class IdleLoop : public ::testing::Test {
 protected:
  /// Turns until it has been idle so often. Each wait ends by itself: nothing hangs.
  void turn_until(int times) {
    while (idle_ < times) ASSERT_TRUE(loop_->turn());
  }

  std::unique_ptr<EventLoop> loop_ = EventLoop::make().value();
  int idle_ = 0;
};

TEST_F(IdleLoop, TellsOnceThatNothingHasHappened) {
  loop_->when_idle(Milliseconds{1}, hour, [this] { ++idle_; });
  turn_until(1);
  Timer later(*loop_, [] {});
  later.set(Milliseconds{5});
  ASSERT_TRUE(loop_->turn());
  EXPECT_EQ(idle_, 1) << "a timer is nothing that happens";
}

TEST_F(IdleLoop, TellsAgainAfterADescriptorHasBeenReady) {
  loop_->when_idle(Milliseconds{1}, hour, [this] { ++idle_; });
  turn_until(1);
  Pair pair = make_seqpacket_pair().value();
  Watch watch(*loop_, pair.first.get());
  watch.on_readable = [&watch] { watch.forget(); };
  ASSERT_TRUE(watch.want_read(true));
  ASSERT_EQ(::write(pair.second.get(), "x", 1), 1);
  turn_until(2);
  EXPECT_EQ(idle_, 2);
}

TEST_F(IdleLoop, TellsInTimeThoughADescriptorIsAlwaysReady) {
  loop_->when_idle(hour, Milliseconds{1}, [this] { ++idle_; });
  Pair pair = make_seqpacket_pair().value();
  Watch watch(*loop_, pair.first.get());
  watch.on_readable = [] {};
  ASSERT_TRUE(watch.want_read(true));
  ASSERT_EQ(::write(pair.second.get(), "x", 1), 1);
  turn_until(2);
  EXPECT_EQ(idle_, 2);
}

}  // namespace
}  // namespace cellblock
