#include <gmock/gmock.h>

#include "client/connection/call_clock.h"
#include "client/connection/rpc_text.h"

namespace cellblock::client {
namespace {

using std::chrono::milliseconds;

constexpr CallClock::TimePoint start{std::chrono::hours(1)};

TEST(CallClock, GivesTheTimeoutAnewWhenProgressRises) {
  CallClock clock(start, milliseconds(100), milliseconds(1'000));
  EXPECT_EQ(clock.deadline(), start + milliseconds(100));
  EXPECT_TRUE(clock.progressed(1, start + milliseconds(60)));
  EXPECT_EQ(clock.deadline(), start + milliseconds(160));
}

TEST(CallClock, GivesNothingForProgressThatDoesNotRise) {
  CallClock clock(start, milliseconds(100), milliseconds(1'000));
  EXPECT_TRUE(clock.progressed(0, start));
  EXPECT_FALSE(clock.progressed(0, start + milliseconds(60)));
  EXPECT_FALSE(clock.progressed(-1, start + milliseconds(60)));
  EXPECT_FALSE(clock.progressed(std::numeric_limits<double>::quiet_NaN(), start));
  EXPECT_EQ(clock.deadline(), start + milliseconds(100));
}

TEST(CallClock, NeverGoesBeyondTheCap) {
  CallClock clock(start, milliseconds(100), milliseconds(150));
  EXPECT_TRUE(clock.progressed(1, start + milliseconds(90)));
  EXPECT_TRUE(clock.progressed(2, start + milliseconds(140)));
  EXPECT_EQ(clock.deadline(), start + milliseconds(150));
}

TEST(CallClock, KeepsTheTimeoutWhereThereIsNoCapBeyondIt) {
  CallClock clock(start, milliseconds(100), milliseconds(0));
  EXPECT_TRUE(clock.progressed(1, start + milliseconds(90)));
  EXPECT_EQ(clock.deadline(), start + milliseconds(100));
}

TEST(CallClock, TakesADeadlineThatNeverComes) {
  CallClock clock(start, milliseconds::max(), milliseconds::max());
  EXPECT_EQ(clock.deadline(), CallClock::TimePoint::max());
  EXPECT_TRUE(clock.progressed(1, start));
  EXPECT_EQ(clock.deadline(), CallClock::TimePoint::max());
}

TEST(RawMember, IsFoundAsItStandsThereByItsUnescapedKey) {
  EXPECT_EQ(raw_member(R"({"a": [1, 2.0] ,"b":3})", "a"), "[1, 2.0]");
  EXPECT_EQ(raw_member(R"({"\u0061" : "x" })", "a"), R"("x")");
  EXPECT_EQ(raw_member(R"({"b":{"a":1}})", "a"), "");
  EXPECT_EQ(raw_member("[]", "a"), "");
}

TEST(ProgressToken, IsAddedAndNothingElseChanges) {
  EXPECT_EQ(with_progress_token("{}", 7), R"({"_meta":{"progressToken":7}})");
  EXPECT_EQ(with_progress_token(R"( { "b":1.0})", 7), R"( {"_meta":{"progressToken":7}, "b":1.0})");
  EXPECT_EQ(with_progress_token(R"({"a":1,"_meta":{"x":2}})", 7),
            R"({"a":1,"_meta":{"progressToken":7,"x":2}})");
  EXPECT_EQ(with_progress_token(R"({"_meta":{ }})", 7), R"({"_meta":{"progressToken":7 }})");
}

TEST(ProgressToken, IsNotAddedBesideAnother) {
  for (const char* params : {R"({"_meta":{"progressToken":"mine"}})", R"({"_meta":1})", "[]", ""}) {
    EXPECT_FALSE(with_progress_token(params, 7)) << params;
  }
}

}  // namespace
}  // namespace cellblock::client
