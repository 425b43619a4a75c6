#include <gtest/gtest.h>

#include "supervisor/gateway/cell/restart_policy.h"

namespace cellblock::gateway {
namespace {

using std::chrono::seconds;

constexpr StartKey first = 1;
constexpr StartKey second = 2;

/// A server that fails, and its clock.
class Life : public testing::Test {
 protected:
  RestartRules rules{.pause = Milliseconds{100},
                     .max_pause = Milliseconds{1'000},
                     .failures = 3,
                     .window = seconds{60},
                     .rest = seconds{10},
                     .trials = 2};
  RestartPolicy life{rules};
  Time now{};

  StartChoice start(StartKey key = first) { return life.may_start(key, now).choice; }
  void fail(StartKey key = first) { life.failed(key, 0, now); }
  /// To the end of the pause or rest, and the start after it.
  void wait_and_start(StartKey key = first) {
    now = life.next_start().value_or(now);
    ASSERT_EQ(start(key), StartChoice::go);
  }
  void rest() {
    for (int i = 0; i < 3; ++i) {
      if (i != 0) wait_and_start();
      fail();
    }
    ASSERT_EQ(life.state(), LifeState::resting);
  }
};

TEST_F(Life, AServerThatNeverFailedStartsAsOftenAsItIsWanted) {
  EXPECT_EQ(start(first), StartChoice::go);
  EXPECT_EQ(start(second), StartChoice::go);
  life.gone(first);
  EXPECT_EQ(start(first), StartChoice::go);
}

TEST_F(Life, AFailureIsFollowedByAPauseAndOneTrial) {
  start();
  fail();
  EXPECT_EQ(life.state(), LifeState::pausing);
  const StartAnswer early = life.may_start(first, now);
  EXPECT_EQ(early.choice, StartChoice::wait);
  EXPECT_EQ(early.at, now + Milliseconds{100});
  wait_and_start(first);
  EXPECT_EQ(life.state(), LifeState::trying);
  EXPECT_EQ(start(second), StartChoice::wait);
  life.answered(first);
  EXPECT_EQ(life.state(), LifeState::good);
  EXPECT_EQ(start(second), StartChoice::go);
}

TEST_F(Life, PausesDoubleUpToTheLongestAndBeginAnewAfterAnAnswer) {
  rules.failures = 100;
  for (const int expected : {100, 200, 400, 800, 1'000, 1'000}) {
    fail();
    EXPECT_EQ(*life.next_start() - now, Milliseconds{expected});
    wait_and_start();
  }
  life.answered(first);
  fail();
  EXPECT_EQ(*life.next_start() - now, Milliseconds{100});
}

TEST_F(Life, ChanceTakesAtMostAHalfOfAPause) {
  for (const std::uint64_t chance : {0ULL, 1ULL, 49ULL, 50ULL, 51ULL, ~0ULL}) {
    RestartPolicy one(rules);
    one.failed(first, chance, now);
    EXPECT_LE(*one.next_start() - now, Milliseconds{100}) << chance;
    EXPECT_GE(*one.next_start() - now, Milliseconds{50}) << chance;
  }
}

TEST_F(Life, TheBudgetOfFailuresIsNotRenewedByGoodRunsBetweenThem) {
  for (int i = 0; i < 2; ++i) {
    fail();
    wait_and_start();
    life.answered(first);
  }
  fail();
  EXPECT_EQ(life.state(), LifeState::resting);
  EXPECT_EQ(*life.next_start() - now, seconds{10});
}

TEST_F(Life, FailuresOutsideTheWindowAreForgotten) {
  for (int i = 0; i < 5; ++i) {
    fail();
    EXPECT_EQ(life.state(), LifeState::pausing);
    wait_and_start();
    life.answered(first);
    now += seconds{31};
  }
}

TEST_F(Life, ATrialThatIsAnsweredEndsARest) {
  rest();
  EXPECT_EQ(start(), StartChoice::wait);
  wait_and_start();
  life.answered(first);
  EXPECT_EQ(life.state(), LifeState::good);
}

TEST_F(Life, FailedTrialsLeadToQuarantineWhichOnlyAWordEnds) {
  rest();
  wait_and_start();
  fail();
  EXPECT_EQ(life.state(), LifeState::resting);
  wait_and_start();
  fail();
  EXPECT_EQ(life.state(), LifeState::quarantined);
  now += seconds{86'400};
  EXPECT_EQ(start(), StartChoice::refuse);
  life.reset();
  EXPECT_EQ(start(), StartChoice::go);
  EXPECT_EQ(life.run(), 0U);
}

TEST_F(Life, WithRestartNeverTheFirstFailureIsTheLast) {
  rules.when = RestartWhen::never;
  fail();
  EXPECT_EQ(start(), StartChoice::refuse);
}

TEST_F(Life, CellsThatFailTogetherCountAsOneFailure) {
  start(first);
  start(second);
  fail(first);
  const auto due = life.next_start();
  fail(second);
  EXPECT_EQ(life.run(), 1U);
  EXPECT_EQ(life.next_start(), due);
}

TEST_F(Life, AnOlderCellThatFailsDuringATrialDoesNotDecideIt) {
  fail(first);
  wait_and_start(second);
  fail(first);
  EXPECT_EQ(life.state(), LifeState::trying);
}

TEST_F(Life, ATrialThatNobodyWantsAnyMoreLeavesRoomForTheNextAtOnce) {
  fail();
  wait_and_start(first);
  life.gone(first);
  EXPECT_EQ(start(second), StartChoice::go);
  EXPECT_EQ(life.state(), LifeState::trying);
  life.gone(first);
  EXPECT_EQ(life.state(), LifeState::trying);
}

TEST_F(Life, ATrialThatSaysNothingKeepsNobodyOutForLong) {
  fail();
  wait_and_start(first);
  now += RestartPolicy::alone - Milliseconds{1};
  EXPECT_EQ(start(second), StartChoice::wait);
  now += Milliseconds{1};
  EXPECT_EQ(start(second), StartChoice::go);
}

TEST_F(Life, OfSeveralTrialsTheFirstThatFailsCountsAndTheFirstThatAnswersEndsIt) {
  fail();
  wait_and_start(first);
  now += RestartPolicy::alone;
  start(second);
  fail(first);
  EXPECT_EQ(life.state(), LifeState::pausing);
  EXPECT_EQ(life.run(), 2U);
  life.answered(second);
  EXPECT_EQ(life.state(), LifeState::good);
  EXPECT_EQ(start(first), StartChoice::go);
}

TEST_F(Life, AnAnswerOfACellThatWasNotTriedEndsNoPause) {
  start(first);
  start(second);
  fail(first);
  life.answered(second);
  EXPECT_EQ(life.state(), LifeState::pausing);
}

TEST_F(Life, AServerThatHangsComesToItsQuarantine) {
  rest();
  for (const StartKey key : {first, second}) {
    wait_and_start(key);
    now += seconds{30};
    fail(key);
  }
  EXPECT_EQ(life.state(), LifeState::quarantined);
}

// --- what is said of it --------------------------------------------------------------------------

class Refusal : public Life {
 protected:
  Refusal() {
    server.name = "git";
    last.message = "cell \"git\": exited with code 1";
    last.cause = "exited with code 1";
    last.verdict = "early_crash";
  }
  Failure refusal() const { return start_refusal(server, life, &last, now); }

  Server server;
  Failure last;
};

TEST_F(Refusal, SaysWhenToTryAgainAndWhatHappenedTheLastTime) {
  rest();
  const Failure failure = refusal();
  EXPECT_EQ(failure.code, FailureCode::server_failed);
  EXPECT_EQ(
      failure.message,
      "server \"git\" failed 3 times in a row; it may start again in 10s; the last time: cell "
      "\"git\": exited with code 1");
  EXPECT_EQ(failure.retry_after, seconds{10});
  EXPECT_EQ(failure.cause, "exited with code 1");
  EXPECT_EQ(failure.verdict, "never_ran");
}

TEST_F(Refusal, RoundsTheTimeUpToWhatSomebodyWhoWaitsCaresFor) {
  struct Row {
    Milliseconds rest;
    const char* text;
  };
  for (const auto& [rest, text] :
       {Row{Milliseconds{1'001}, "in 2s;"}, Row{seconds{119}, "in 119s;"},
        Row{seconds{121}, "in 3m;"}, Row{seconds{3'541}, "in 1h;"}}) {
    rules.failures = 1;
    rules.rest = rest;
    life.reset();
    fail();
    EXPECT_NE(refusal().message.find(text), std::string::npos) << refusal().message;
  }
}

TEST_F(Refusal, SaysWhoCanEndAQuarantine) {
  rules.when = RestartWhen::never;
  fail();
  const Failure failure = refusal();
  EXPECT_EQ(failure.message,
            "server \"git\" failed once and is not started any more until `cellblock restart git`; "
            "the last time: cell \"git\": exited with code 1");
  EXPECT_EQ(failure.retry_after, std::nullopt);
}

TEST_F(Refusal, SaysThatAnotherCellIsBeingTried) {
  fail();
  wait_and_start();
  EXPECT_EQ(start_refusal(server, life, nullptr, now).message,
            "server \"git\" failed once and is being tried with one cell; try again in 5s");
}

}  // namespace
}  // namespace cellblock::gateway
