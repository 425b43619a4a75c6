#include <gmock/gmock.h>

#include "supervisor/gateway/cell/cell_health.h"

namespace cellblock::gateway {
namespace {

using namespace std::chrono_literals;
using Action = CellHealth::Action;

class CellHealthTest : public ::testing::Test {
 protected:
  CellHealthTest() { cell_health_.begin(now_); }

  Action look(bool is_busy = false, bool may_ask = true) {
    last_ = cell_health_.look(is_busy, may_ask, now_);
    return last_.action;
  }
  /// As the timer does, until something is to be done or so much time has passed.
  Action wait(Milliseconds time, bool is_busy = false) {
    const Time end = now_ + time;
    while (true) {
      const Action action = look(is_busy);
      if (action != Action::none || !last_.next || now_ + *last_.next > end) {
        if (action == Action::none) now_ = end;
        return action;
      }
      now_ += *last_.next;
    }
  }

  StopRules stop_{.idle = 30min};
  HealthRules health_;
  CellHealth cell_health_{stop_, health_};
  CellHealth::Look last_;
  Time now_{};
};

// --- whether it is wanted ------------------------------------------------------------------------

TEST_F(CellHealthTest, ACellThatNobodyNeedsIsStoppedAfterItsTime) {
  EXPECT_EQ(wait(30min - 1ms), Action::none);
  now_ += 1ms;
  EXPECT_EQ(look(), Action::stop);
}

TEST_F(CellHealthTest, ACellThatIsBusyIsNot) {
  EXPECT_EQ(wait(10h, true), Action::none);
  EXPECT_EQ(wait(30min - 1ms), Action::none) << "its time begins when it is quiet";
}

TEST_F(CellHealthTest, WhatTheHostSaysBeginsItsTimeAnew) {
  EXPECT_EQ(wait(20min), Action::none);
  cell_health_.host_spoke();
  EXPECT_EQ(look(), Action::none);
  EXPECT_EQ(wait(30min - 1ms), Action::none);
}

TEST_F(CellHealthTest, WhatTheServerSaysDoesNot) {
  for (int i = 0; i < 29; ++i) {
    EXPECT_EQ(wait(1min), Action::none);
    cell_health_.server_spoke(now_);
  }
  EXPECT_EQ(wait(2min), Action::stop);
}

TEST_F(CellHealthTest, ItIsStoppedAtMostAQuarterLaterThanDeclared) {
  cell_health_.host_spoke();  // just after a look
  EXPECT_EQ(wait(30min + 30min / 4 + 1ms), Action::stop);
}

TEST_F(CellHealthTest, WithNoTimeDeclaredItStaysForEver) {
  stop_.idle.reset();
  EXPECT_EQ(look(), Action::none);
  EXPECT_EQ(last_.next, std::nullopt);
}

// --- whether it answers --------------------------------------------------------------------------

class SilentCellTest : public CellHealthTest {
 protected:
  SilentCellTest() {
    stop_.idle.reset();
    health_ = {.ping = 30s, .timeout = 10s};
  }
};

TEST_F(SilentCellTest, ACellThatSaysNothingIsAskedAndThenGivenUp) {
  EXPECT_EQ(wait(30s - 1ms), Action::none);
  EXPECT_EQ(wait(1ms), Action::ask);
  EXPECT_EQ(wait(10s - 1ms), Action::none);
  EXPECT_EQ(wait(2ms), Action::give_up);
}

TEST_F(SilentCellTest, WhatLiesUnreadWhenItsTimeIsOverIsReadFirst) {
  EXPECT_EQ(wait(30s), Action::ask);
  now_ += 10s;
  EXPECT_EQ(look(), Action::none);
  EXPECT_EQ(last_.next, 1ms);
  cell_health_.server_spoke(now_);
  now_ += 1ms;
  EXPECT_EQ(look(), Action::none);
}

TEST_F(SilentCellTest, AnyWordIsALifeSign) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(wait(29s), Action::none);
    cell_health_.server_spoke(now_);
  }
}

TEST_F(SilentCellTest, AnAnswerIsFollowedByTheNextQuestion) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(wait(30s), Action::ask);
    now_ += 9s;
    cell_health_.server_spoke(now_);
  }
}

TEST_F(SilentCellTest, ACellWhoseHostDoesNotReadIsNotJudged) {
  EXPECT_EQ(wait(30s), Action::ask);
  cell_health_.set_paused(true, now_);
  EXPECT_EQ(wait(1h), Action::none);
  cell_health_.set_paused(false, now_);
  EXPECT_EQ(wait(30s - 1ms), Action::none) << "its time begins anew";
  EXPECT_EQ(wait(1ms), Action::ask);
}

TEST_F(SilentCellTest, ACellThatCannotBeAskedYetIsNotJudged) {
  now_ += 1h;
  EXPECT_EQ(look(false, false), Action::none);
  EXPECT_EQ(look(), Action::ask);
}

TEST_F(SilentCellTest, OneThatIsBusyIsAskedAllTheSame) { EXPECT_EQ(wait(30s, true), Action::ask); }

TEST_F(SilentCellTest, ToAskItIsNoUseOfIt) {
  stop_.idle = 1min;
  EXPECT_EQ(wait(30s), Action::ask);
  cell_health_.server_spoke(now_);
  EXPECT_EQ(wait(30s), Action::stop);
}

}  // namespace
}  // namespace cellblock::gateway
