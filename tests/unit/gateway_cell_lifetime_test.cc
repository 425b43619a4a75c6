#include <gtest/gtest.h>

#include <initializer_list>

#include "supervisor/gateway/cell/cell_lifetime.h"

namespace cellblock::gateway {
namespace {

using enum CellInput;

CellLifetime after(std::initializer_list<CellInput> inputs) {
  CellLifetime cell;
  for (const CellInput input : inputs) static_cast<void>(cell.on(input));
  return cell;
}

TEST(CellLifetime, RunsFromStartToReadyToEnd) {
  CellLifetime cell;
  EXPECT_EQ(cell.on(start), CellAction::ask_start);
  EXPECT_EQ(cell.on(started), CellAction::none);
  EXPECT_EQ(cell.on(running), CellAction::none);
  EXPECT_EQ(cell.state(), CellState::handshaking);
  EXPECT_EQ(cell.on(answered), CellAction::none);
  EXPECT_EQ(cell.state(), CellState::ready);
  EXPECT_EQ(cell.on(ended), CellAction::none);
  EXPECT_TRUE(cell.is_over());
}

TEST(CellLifetime, StopsInThreeStepsEachAfterItsTime) {
  CellLifetime cell = after({start, started, running, answered});
  EXPECT_EQ(cell.on(stop), CellAction::close_input);
  EXPECT_EQ(cell.on(deadline), CellAction::terminate);
  EXPECT_EQ(cell.on(deadline), CellAction::kill);
  EXPECT_EQ(cell.on(deadline), CellAction::none);
  EXPECT_EQ(cell.on(ended), CellAction::none);
}

TEST(CellLifetime, StoppingTwiceDoesNotStartTheLadderAgain) {
  CellLifetime cell = after({start, started, running, stop, deadline});
  EXPECT_EQ(cell.on(stop), CellAction::none);
  EXPECT_EQ(cell.state(), CellState::terminating);
}

TEST(CellLifetime, AFaultKillsAtOnceFromEveryStepOfTheLadder) {
  EXPECT_EQ(after({start, started, running}).on(fault), CellAction::kill);
  EXPECT_EQ(after({start, started, running, answered}).on(fault), CellAction::kill);
  EXPECT_EQ(after({start, started, running, stop}).on(fault), CellAction::kill);
  EXPECT_EQ(after({start, started, running, stop, deadline}).on(fault), CellAction::kill);
}

TEST(CellLifetime, WithdrawsAStartThatNobodyWantsAnyMoreOnce) {
  EXPECT_EQ(after({start}).on(stop), CellAction::withdraw_start);
  EXPECT_EQ(after({start}).on(fault), CellAction::withdraw_start);
  EXPECT_EQ(after({start, stop}).on(stop), CellAction::none);
  EXPECT_EQ(after({start, started}).on(stop), CellAction::kill);
}

TEST(CellLifetime, KillsACellThatArrivesAfterNobodyWantsIt) {
  CellLifetime cell = after({start, stop});
  EXPECT_EQ(cell.state(), CellState::abandoned);
  EXPECT_EQ(cell.on(started), CellAction::kill);
  // exec may have succeeded just before the kill arrived.
  EXPECT_EQ(cell.on(running), CellAction::none);
  EXPECT_EQ(cell.on(ended), CellAction::none);
  EXPECT_TRUE(cell.is_over());
}

TEST(CellLifetime, AStopDuringTheSetUpKills) {
  EXPECT_EQ(after({start, started}).on(stop), CellAction::kill);
}

TEST(CellLifetime, ALateDeadlineDoesNotHurtAReadyCell) {
  CellLifetime cell = after({start, started, running, answered});
  EXPECT_EQ(cell.on(deadline), CellAction::none);
  EXPECT_EQ(cell.state(), CellState::ready);
}

TEST(CellLifetime, ALateAnswerDoesNotReviveACell) {
  CellLifetime cell = after({start, started, running, stop});
  EXPECT_EQ(cell.on(answered), CellAction::none);
  EXPECT_EQ(cell.state(), CellState::draining);
}

TEST(CellLifetime, ReportsWhatALauncherMayNotSay) {
  EXPECT_EQ(after({start, started}).on(started), CellAction::report_impossible);
  EXPECT_EQ(after({start}).on(running), CellAction::report_impossible);
  EXPECT_EQ(after({start}).on(ended), CellAction::report_impossible);
  EXPECT_EQ(after({start, started, running, ended}).on(ended), CellAction::report_impossible);
}

TEST(CellLifetime, OnlyTheLaunchersWordCanBeImpossible) {
  const std::initializer_list<std::initializer_list<CellInput>> ways = {
      {start},
      {start, stop},
      {start, started},
      {start, started, running},
      {start, started, running, answered},
      {start, started, running, stop},
      {start, started, running, stop, deadline},
      {start, started, running, fault},
      {start, started, running, ended}};
  for (const auto& way : ways) {
    for (const CellInput input : {stop, fault, deadline}) {
      EXPECT_NE(after(way).on(input), CellAction::report_impossible)
          << public_name_of(after(way).state()) << " " << static_cast<int>(input);
    }
  }
}

}  // namespace
}  // namespace cellblock::gateway
