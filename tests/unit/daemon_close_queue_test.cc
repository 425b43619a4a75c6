#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/daemon/sockets/close_queue.h"

/// Who closes what, and who waits, without a process or a descriptor.
namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Size = CloseQueue::Size;

constexpr ConnectionOwner alice{1000, ConnectionOwner::Kind::user};
constexpr ConnectionOwner bob{1001, ConnectionOwner::Kind::user};
constexpr ConnectionOwner stranger{64103, ConnectionOwner::Kind::stranger};
constexpr ConnectionOwner stranger_too{64104, ConnectionOwner::Kind::stranger};

class CloseQueueTest : public testing::Test {
 protected:
  void add(const ConnectionOwner& owner, std::size_t count = 1) {
    for (std::size_t i = 0; i < count; ++i) queue_.add(owner, Fd());
  }

  /// All children that can be started now; their owners' uids.
  std::vector<std::uint32_t> start(Size size = Size::any) {
    std::vector<std::uint32_t> uids;
    while (auto batch = queue_.next(size)) {
      uids.push_back(batch->owner.uid);
      queue_.started(++last_child_, batch->owner, now_);
    }
    return uids;
  }

  std::vector<std::uint32_t> pass(milliseconds time) {
    now_ += time;
    std::vector<std::uint32_t> told;
    for (const ConnectionOwner& owner : queue_.look(now_)) told.push_back(owner.uid);
    return told;
  }

  void end_all() {
    for (const pid_t child : queue_.children()) queue_.ended(child, now_);
  }

  /// Two children of this owner that do not end.
  void get_stuck(const ConnectionOwner& owner) {
    for (std::size_t i = 0; i < CloseQueue::most_of_one; ++i) {
      add(owner);
      start();
    }
    pass(CloseQueue::stuck_after);
  }

  CloseQueue queue_;
  CloseQueue::Time now_{};
  pid_t last_child_ = 0;
};

TEST_F(CloseQueueTest, FullBatchesGoAtOnceAndOthersWhenTheyHaveWaited) {
  add(alice, CloseQueue::batch - 1);
  EXPECT_THAT(start(Size::whole_only), IsEmpty());
  add(alice);
  EXPECT_THAT(start(Size::whole_only), ElementsAre(alice.uid));
  add(alice);
  EXPECT_THAT(start(Size::any), ElementsAre(alice.uid));
}

TEST_F(CloseQueueTest, ABatchIsOneOwners) {
  add(alice, 3);
  add(bob, 2);
  const auto first = queue_.next(Size::any);
  const auto second = queue_.next(Size::any);
  ASSERT_TRUE(first && second);
  EXPECT_THAT(first->connections, SizeIs(3));
  EXPECT_EQ(first->owner.uid, alice.uid);
  EXPECT_THAT(second->connections, SizeIs(2));
  EXPECT_EQ(second->owner.uid, bob.uid);
}

TEST_F(CloseQueueTest, OneOwnerHasTwoChildrenAndTheOthersHaveTheirs) {
  add(alice, 4 * CloseQueue::batch);
  add(bob);
  EXPECT_THAT(start(), ElementsAre(alice.uid, bob.uid, alice.uid));
  EXPECT_THAT(start(), IsEmpty());
  end_all();
  EXPECT_THAT(start(), ElementsAre(alice.uid, alice.uid));
}

TEST_F(CloseQueueTest, StrangersAreCountedTogether) {
  add(stranger, CloseQueue::batch);
  add(stranger_too, 2 * CloseQueue::batch);
  EXPECT_THAT(start(), SizeIs(2));
}

TEST_F(CloseQueueTest, AFloodOfConnectionsThatCloseHoldsTheListeners) {
  add(stranger, 2 * CloseQueue::batch);
  start();
  add(stranger, CloseQueue::most_waiting - 1);
  EXPECT_FALSE(queue_.must_hold());
  add(stranger);
  EXPECT_TRUE(queue_.must_hold());
  end_all();
  start();
  EXPECT_FALSE(queue_.must_hold());
}

TEST_F(CloseQueueTest, WhoseChildrenDoNotEndHoldsNobody) {
  get_stuck(stranger);
  add(stranger, CloseQueue::most_waiting);
  EXPECT_FALSE(queue_.must_hold());
  EXPECT_THAT(start(), IsEmpty());
  add(alice);
  EXPECT_THAT(start(), ElementsAre(alice.uid));
}

TEST_F(CloseQueueTest, StuckChildrenDoNotCountAgainstOthers) {
  for (std::uint32_t uid = 1; uid <= CloseQueue::most_at_once; ++uid) {
    get_stuck({uid, ConnectionOwner::Kind::user});
  }
  for (std::uint32_t uid = 100; uid < 104; ++uid) add({uid, ConnectionOwner::Kind::user});
  EXPECT_THAT(start(), SizeIs(4));
}

TEST_F(CloseQueueTest, TellsWhoseChildIsStuckOnce) {
  add(stranger);
  start();
  EXPECT_THAT(pass(CloseQueue::stuck_after - milliseconds(1)), IsEmpty());
  EXPECT_THAT(pass(milliseconds(1)), ElementsAre(stranger.uid));
  EXPECT_EQ(queue_.stuck(), 1U);
  add(stranger_too);
  start();
  EXPECT_THAT(pass(CloseQueue::stuck_after), IsEmpty());
  EXPECT_EQ(queue_.stuck(), 2U);
}

TEST_F(CloseQueueTest, AUserIsNotServedWhileTwoOfHisChildrenAreStuck) {
  get_stuck(alice);
  EXPECT_TRUE(queue_.is_stuck(alice.uid));
  EXPECT_FALSE(queue_.is_stuck(bob.uid));
  end_all();
  EXPECT_FALSE(queue_.is_stuck(alice.uid));
  EXPECT_EQ(queue_.stuck(), 0U);
}

TEST_F(CloseQueueTest, WhoWasStuckIsNotWaitedForDuringAMinute) {
  get_stuck(alice);
  end_all();
  add(alice, 2 * CloseQueue::batch);
  start();
  add(alice, CloseQueue::most_waiting);
  pass(std::chrono::seconds(59));
  EXPECT_FALSE(queue_.must_hold());
  end_all();
  pass(CloseQueue::distrust);
  EXPECT_TRUE(queue_.must_hold());
}

TEST_F(CloseQueueTest, TooManyParkedConnectionsGetOneChildMoreAtATime) {
  get_stuck(stranger);
  add(stranger, CloseQueue::most_parked - 1);
  EXPECT_THAT(start(), IsEmpty());
  add(stranger, 2);
  EXPECT_THAT(start(), ElementsAre(stranger.uid));
  EXPECT_FALSE(queue_.must_hold());
  add(stranger, CloseQueue::most_parked);
  EXPECT_THAT(start(), IsEmpty());
  EXPECT_TRUE(queue_.must_hold()) << "until that one has ended or is known to be stuck";
  pass(CloseQueue::stuck_again_after);
  EXPECT_THAT(start(), ElementsAre(stranger.uid));
  EXPECT_FALSE(queue_.must_hold());
}

TEST_F(CloseQueueTest, HasAnEndWhereEverythingIsStuck) {
  get_stuck(stranger);
  for (std::size_t i = 0; i < 2 * CloseQueue::most_stuck; ++i) {
    add(stranger, CloseQueue::most_parked);
    start();
    pass(CloseQueue::stuck_again_after);
  }
  EXPECT_EQ(queue_.stuck(), CloseQueue::most_stuck);
  EXPECT_TRUE(queue_.must_hold());
  end_all();
  start();
  EXPECT_TRUE(queue_.has_waiting());
  EXPECT_THAT(queue_.take_all(), SizeIs(testing::Gt(CloseQueue::most_parked)));
  EXPECT_FALSE(queue_.must_hold());
}

TEST_F(CloseQueueTest, WhatNoChildCouldBeMadeForWaitsOn) {
  add(alice, 3);
  auto batch = queue_.next(Size::any);
  ASSERT_TRUE(batch);
  queue_.put_back(std::move(*batch));
  EXPECT_THAT(queue_.next(Size::any)->connections, SizeIs(3));
}

}  // namespace
}  // namespace cellblock::daemon
