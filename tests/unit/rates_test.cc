#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "policy/rates/call_deadline.h"
#include "policy/rates/call_slots.h"
#include "policy/rates/rate_text.h"
#include "policy/rates/refused_attempts.h"
#include "policy/rates/token_bucket.h"

namespace cellblock {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr Instant start{};

// --- how rates are written -----------------------------------------------------------------------

TEST(RateText, AWholeNumberAndAPeriodIsARate) {
  EXPECT_EQ(*parse_rate("10/s"), (Rate{10, 1s, 10}));
  EXPECT_EQ(*parse_rate("600/m"), (Rate{600, 60s, 600}));
  EXPECT_EQ(*parse_rate("1/h"), (Rate{1, 3600s, 1}));
  EXPECT_EQ(*parse_rate("1000000/s"), (Rate{1'000'000, 1s, 1'000'000}));
}

TEST(RateText, NothingElseIs) {
  for (const char* text : {"", "10", "/s", "10/", "10/d", "0/s", "-1/s", " 10/s", "10 /s", "10/s ",
                           "1.5/s", "10/S", "1000001/s", "99999999999/s", "10/min"}) {
    EXPECT_FALSE(parse_rate(text)) << text;
  }
}

TEST(RateText, TellsTheBurstWhereItIsAnother) {
  EXPECT_EQ(rate_text({10, 1s, 10}), "10/s");
  EXPECT_EQ(rate_text({600, 60s, 20}), "600/m, 20 at once");
}

TEST(RateText, NobodyIsToldToComeBackTooSoon) {
  EXPECT_EQ(wait_text(0ms), "0ms");
  EXPECT_EQ(wait_text(999ms), "999ms");
  EXPECT_EQ(wait_text(1000ms), "1s");
  EXPECT_EQ(wait_text(1001ms), "1.1s");
  EXPECT_EQ(wait_text(9'950ms), "10s");
  EXPECT_EQ(wait_text(75'001ms), "76s");
}

// --- a user's share of the audit log -------------------------------------------------------------

Config logged(std::uint64_t max_bytes, std::uint32_t keep) {
  Config config;
  config.audit = {.max_bytes = max_bytes, .keep = keep};
  config.calls.user.rate = Rate{1'000'000, 1s, 1'000'000};
  return config;
}

TEST(LogShare, IsAQuarterOfTheLogADay) {
  EXPECT_EQ(LogShare(logged(64U << 20, 15)).calls(), 149'796U);
  EXPECT_EQ(LogShare(logged(1U << 20, 1)).calls(), LogShare::fewest_calls);
}

TEST(LogShare, IsUnboundedWhereNothingIsPushedOut) {
  Config grows = logged(64U << 20, 0);
  Config rootless = logged(64U << 20, 15);
  rootless.mode = RunMode::user;
  Config unbounded = logged(64U << 20, 15);
  unbounded.calls.user.rate.reset();
  for (const Config* config : {&grows, &rootless, &unbounded}) {
    LogShare share(*config);
    EXPECT_EQ(share.calls(), 0U);
    EXPECT_EQ(share.wait(start), 0ns);
  }
}

TEST(LogShare, BeginsWithAnHourAndGivesADayInADay) {
  LogShare share(logged(64U << 20, 15));
  const auto taken_at = [&](Instant now) {
    std::uint64_t calls = 0;
    for (; share.wait(now) == 0ns; ++calls) share.take(now);
    return calls;
  };
  EXPECT_EQ(taken_at(start + 1h), 149'796U / 24) << "a gateway that is new has no more";
  EXPECT_GT(share.wait(start + 1h), 0ns);
  EXPECT_NEAR(static_cast<double>(taken_at(start + 2h)), 149'796.0 / 24, 2);
  EXPECT_NEAR(static_cast<double>(taken_at(start + 100h)), 149'796.0, 2)
      << "never more than a day's";
}

TEST(LogShare, IsTakenByWhatHasLinesButNoPlaceAsByCalls) {
  const Config config = logged(1U << 20, 1);
  CallSlots places(config);
  std::uint64_t taken = 0;
  for (; !places.out_of_log(start); ++taken) places.note_in_log(start);
  EXPECT_EQ(taken, LogShare::fewest_calls / 24) << "a gateway that is new has no more";
  places.note_in_log(start);
  const auto busy = places.out_of_log(start);
  ASSERT_TRUE(busy);
  EXPECT_EQ(busy->why, Busy::Why::log_share);
  EXPECT_FALSE(places.out_of_log(start + busy->retry_after));
}

TEST(LogShare, BeginsWithAnHourAlsoWhereNobodyAskedBeforeItWasTakenOf) {
  LogShare share(logged(64U << 20, 15));
  share.take(start);
  std::uint64_t calls = 1;
  for (; share.wait(start) == 0ns; ++calls) share.take(start);
  EXPECT_EQ(calls, 149'796U / 24);
}

TEST(LogShare, IsOneForAllSessionsOfAUser) {
  struct Nobody final : CallWaiter {
    void place_is_free() override {}
  } nobody;
  const Config config = logged(1U << 20, 1);
  CallSlots places(config);
  std::uint64_t calls = 0;
  std::expected<CallSlot, Busy> place;
  do {
    place = places.take({.session = ++calls, .server = CallSlots::no_server}, nobody, start);
  } while (place);
  EXPECT_EQ(calls - 1, LogShare::fewest_calls / 24);
  EXPECT_EQ(place.error().why, Busy::Why::log_share);
  EXPECT_THAT(busy_text(place.error(), {}, {}), HasSubstr("a quarter of the audit log"));
}

// --- a token bucket ------------------------------------------------------------------------------

TEST(TokenBucket, GivesItsBurstAtOnceAndThenItsRate) {
  TokenBucket bucket({10, 1s, 3});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(bucket.wait(start), 0ns) << i;
    bucket.take(start);
  }
  EXPECT_EQ(bucket.wait(start), 100ms);
  EXPECT_EQ(bucket.wait(start + 99ms), 1ms);
  EXPECT_EQ(bucket.wait(start + 100ms), 0ns);
  bucket.take(start + 100ms);
  EXPECT_EQ(bucket.wait(start + 100ms), 100ms);
}

TEST(TokenBucket, IsFullAgainAfterAPauseAndNoFuller) {
  TokenBucket bucket({10, 1s, 3});
  for (int i = 0; i < 3; ++i) bucket.take(start);
  const Instant later = start + 24h;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(bucket.wait(later), 0ns);
    bucket.take(later);
  }
  EXPECT_GT(bucket.wait(later), 0ns);
}

// Whenever it is asked: in every window of time t, at most burst + rate * t are taken.
TEST(TokenBucket, NeverGivesMoreThanItsBurstAndItsRateInAnyWindow) {
  std::mt19937 random(7);  // NOLINT(*-msc51-cpp): the same every time
  for (const Rate rate : {Rate{7, 1s, 1}, Rate{10, 1s, 5}, Rate{600, 60s, 30}, Rate{3, 3600s, 2}}) {
    TokenBucket bucket(rate);
    std::vector<Instant> taken;
    Instant now = start;
    for (int i = 0; i < 3'000; ++i) {
      now += milliseconds(random() % (1 + 2 * rate.period.count() / rate.count));
      if (bucket.wait(now) != 0ns) continue;
      bucket.take(now);
      taken.push_back(now);
    }
    ASSERT_GT(taken.size(), 100U);
    for (std::size_t first = 0; first < taken.size(); first += 13) {
      for (std::size_t last = first; last < taken.size(); last += 17) {
        const std::chrono::duration<double> window = taken[last] - taken[first];
        const std::chrono::duration<double> period = rate.period;
        ASSERT_LE(static_cast<double>(last - first + 1),
                  rate.burst + rate.count * (window / period) + 1e-6);
      }
    }
  }
}

TEST(TokenBucket, HasATokenWhenItSaidThatItWould) {
  std::mt19937 random(11);  // NOLINT(*-msc51-cpp)
  TokenBucket bucket({13, 1s, 4});
  Instant now = start;
  for (int i = 0; i < 2'000; ++i) {
    const auto wait = bucket.wait(now);
    if (wait > 1ns) {
      ASSERT_GT(bucket.wait(now + wait - 1ns), 0ns);
    }
    now += wait;
    ASSERT_EQ(bucket.wait(now), 0ns);
    bucket.take(now);
    now += milliseconds(random() % 50);
  }
}

// --- places --------------------------------------------------------------------------------------

struct Waiter final : CallWaiter {
  void place_is_free() override { ++told; }
  int told = 0;
};

using Why = Busy::Why;

class CallPlacesTest : public ::testing::Test {
 protected:
  CallPlacesTest() {
    config_.servers.resize(2);
    config_.servers[0].name = "files";
    config_.servers[1].name = "git";
  }
  ServerCalls& files() { return config_.servers[0].calls; }

  CallSlots& places() {
    if (!places_) places_.emplace(config_);
    return *places_;
  }
  std::expected<CallSlot, Busy> take(CallSlots::Wanted wanted = {}) {
    return places().take(wanted, waiter_, now_);
  }

  Config config_;
  Waiter waiter_;
  Instant now_ = start;
  std::optional<CallSlots> places_;  // before what it gave: goes last
  std::vector<CallSlot> kept_;
};

TEST_F(CallPlacesTest, WhatNothingBoundsCostsNothing) {
  for (int i = 0; i < 1'000; ++i) kept_.push_back(*take());
  EXPECT_EQ(places().in_flight(BoundOf::server, {}), 0U);
}

TEST_F(CallPlacesTest, EachOfTheFourHasItsBound) {
  struct Row {
    const char* sentence;
    BoundOf of;
    CallSlots::Wanted first, second;
    bool is_refused;
  };
  constexpr std::uint32_t nobody = CallSlots::no_server;
  const std::vector<Row> rows = {
      {"a user's is for all servers", BoundOf::user, {1, 0, "a"}, {2, 1, "b"}, true},
      {"a session's for all servers in it", BoundOf::session, {1, 0, "a"}, {1, 1, "b"}, true},
      {"and for no other session", BoundOf::session, {1, 0, "a"}, {2, 0, "a"}, false},
      {"a server's for all its tools", BoundOf::server, {1, 0, "a"}, {2, 0, "b"}, true},
      {"and what is no tool", BoundOf::server, {1, 0, "a"}, {1, 0, ""}, true},
      {"and for no other server", BoundOf::server, {1, 0, "a"}, {1, 1, "a"}, false},
      {"a tool's for all sessions", BoundOf::tool, {1, 0, "a"}, {2, 0, "a"}, true},
      {"and for no other tool", BoundOf::tool, {1, 0, "a"}, {1, 0, "b"}, false},
      {"nor one of that name elsewhere", BoundOf::tool, {1, 0, "a"}, {1, 1, "a"}, false},
      {"nor one of longer name", BoundOf::tool, {1, 0, "a"}, {1, 0, "ab"}, false},
      {"of no server it is the user's", BoundOf::user, {1, 0, "a"}, {2, nobody, ""}, true},
      {"and the session's", BoundOf::session, {1, nobody, ""}, {1, 0, "a"}, true},
      {"and no server's", BoundOf::server, {1, 0, "a"}, {1, nobody, ""}, false},
      {"and no tool's", BoundOf::tool, {1, 0, "a"}, {1, nobody, "a"}, false},
  };
  for (const auto& [bounds, why] : {std::pair{CallBounds{.in_flight = 1}, Why::in_flight},
                                    std::pair{CallBounds{.rate = Rate{1, 1s, 1}}, Why::rate}}) {
    for (const Row& row : rows) {
      Config config;
      config.servers.resize(2);
      config.servers[0].calls.tools = {{.name = "a"}};
      if (row.of == BoundOf::user) config.calls.user = bounds;
      if (row.of == BoundOf::session) config.calls.session = bounds;
      if (row.of == BoundOf::server) config.servers[0].calls.bounds = bounds;
      if (row.of == BoundOf::tool) config.servers[0].calls.tools[0].bounds = bounds;
      CallSlots places(config);
      const auto first = places.take(row.first, waiter_, now_);
      ASSERT_TRUE(first) << row.sentence;
      const auto second = places.take(row.second, waiter_, now_);
      ASSERT_EQ(!second, row.is_refused) << row.sentence;
      if (!row.is_refused) continue;
      EXPECT_EQ(second.error().of, row.of) << row.sentence;
      EXPECT_EQ(second.error().why, why) << row.sentence;
    }
  }
}

TEST_F(CallPlacesTest, WhatIsGivenBackIsThereForTheNext) {
  files().bounds.in_flight = 1;
  {
    const auto place = take();
    EXPECT_FALSE(take());
  }
  EXPECT_TRUE(take());
}

TEST_F(CallPlacesTest, ARefusalUsesUpNothing) {
  files().bounds.rate = Rate{1, 1s, 1};
  config_.calls.user.rate = Rate{2, 3600s, 2};
  EXPECT_TRUE(take());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(take().error().of, BoundOf::server);
  EXPECT_TRUE(take({.server = 1}));
  EXPECT_EQ(take({.server = 1}).error().of, BoundOf::user);
}

TEST_F(CallPlacesTest, OfTwoRatesTheLongerWaitIsTold) {
  files().bounds.rate = Rate{1, 1s, 1};
  config_.calls.user.rate = Rate{1, 60s, 1};
  EXPECT_TRUE(take());
  EXPECT_EQ(take().error().retry_after, 60s);
  now_ += 60s;
  EXPECT_TRUE(take());
}

TEST_F(CallPlacesTest, WhoWaitsIsLetInInOrder) {
  files().bounds.in_flight = 1;
  files().queue = {.most = 2, .longest_wait = 5s};
  auto first = take();
  const auto second = take();
  auto third = take();
  ASSERT_TRUE(second && third);
  EXPECT_TRUE(second->waits() && third->waits());
  EXPECT_EQ(second->until(), start + 5s);
  const auto fourth = take();
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().wait, 2U);

  *first = {};
  EXPECT_FALSE(second->waits());
  EXPECT_TRUE(third->waits());
  EXPECT_EQ(waiter_.told, 1);
  EXPECT_EQ(places().in_flight(BoundOf::server, {}), 1U);
}

TEST_F(CallPlacesTest, NobodyWaitsForWhatNoServerAnswers) {
  config_.calls.user.in_flight = 1;
  files().queue.most = 2;
  const CallSlots::Wanted wanted{.session = 1, .server = CallSlots::no_server};
  auto first = take(wanted);
  const auto second = take(wanted);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().why, Why::in_flight);
  *first = {};
  EXPECT_TRUE(take(wanted));
}

TEST_F(CallPlacesTest, WhoWaitsForOneThingDoesNotHoldUpWhoWaitsForAnother) {
  files().tools = {{.name = "a", .bounds = {.in_flight = 1}}};
  files().bounds.in_flight = 2;
  files().queue.most = 4;
  const auto a = take({.tool = "a"});
  auto b = take({.tool = "b"});
  const auto second_a = take({.tool = "a"});
  const auto second_b = take({.tool = "b"});
  ASSERT_TRUE(second_a->waits() && second_b->waits());
  *b = {};
  EXPECT_TRUE(second_a->waits());
  EXPECT_FALSE(second_b->waits());
}

TEST_F(CallPlacesTest, WhoGivesUpWaitingLeavesNoTrace) {
  files().bounds.in_flight = 1;
  files().queue.most = 1;
  auto first = take();
  {
    const auto gone = take();
    EXPECT_EQ(gone->waited().why, Why::waited);
  }
  EXPECT_EQ(places().waiting(0), 0U);
  *first = {};
  EXPECT_EQ(waiter_.told, 0);
  EXPECT_EQ(places().in_flight(BoundOf::server, {}), 0U);
}

TEST_F(CallPlacesTest, ASessionThatIsOverIsForgotten) {
  config_.calls.session = {.rate = Rate{1, 3600s, 1}, .in_flight = 1};
  auto place = take({.session = 5});
  places().forget(5);
  *place = {};
  EXPECT_EQ(places().in_flight(BoundOf::session, {.session = 5}), 0U);
  EXPECT_TRUE(take({.session = 5}));  // another one of that number
}

// Whatever happens in whatever order: no bound is ever exceeded, nobody waits who need not, and at
// the end nothing is left.
TEST_F(CallPlacesTest, NoSequenceLeaksAPlaceOrExceedsABound) {
  config_.calls = {.user = {.in_flight = 7}, .session = {.in_flight = 4}};
  for (Server& server : config_.servers) {
    server.calls.bounds.in_flight = 5;
    server.calls.queue = {.most = 3, .longest_wait = 2s};
    server.calls.tools = {{.name = "a", .bounds = {.rate = Rate{50, 1s, 5}, .in_flight = 2}}};
  }
  std::mt19937 random(3);  // NOLINT(*-msc51-cpp)
  struct Held {
    CallSlots::Wanted wanted;
    CallSlot place;
  };
  std::vector<Held> held;
  const auto in = [&](auto matches) {
    return std::ranges::count_if(
        held, [&](const Held& one) { return !one.place.waits() && matches(one.wanted); });
  };
  for (int i = 0; i < 20'000; ++i) {
    now_ += milliseconds(random() % 30);
    const CallSlots::Wanted wanted{random() % 3, static_cast<std::uint32_t>(random() % 2),
                                   random() % 2 == 0 ? "a" : "b"};
    if (random() % 5 < 3) {
      if (auto place = take(wanted)) held.push_back({wanted, std::move(*place)});
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      held.pop_back();
    }
    std::erase_if(held,
                  [&](const Held& one) { return one.place.waits() && now_ >= one.place.until(); });
    for (const Held& one : held) {
      const auto& [session, server, tool] = one.wanted;
      const auto all = in([](const auto&) { return true; });
      const auto of_session = in([&](const auto& w) { return w.session == session; });
      const auto of_server = in([&](const auto& w) { return w.server == server; });
      const auto of_tool = in([&](const auto& w) { return w.server == server && w.tool == tool; });
      ASSERT_LE(all, 7);
      ASSERT_LE(of_session, 4);
      ASSERT_LE(of_server, 5);
      ASSERT_LE(tool == "a" ? of_tool : 0, 2);
      ASSERT_EQ(places().in_flight(BoundOf::user, one.wanted), all);
      ASSERT_EQ(places().in_flight(BoundOf::session, one.wanted), of_session);
      ASSERT_EQ(places().in_flight(BoundOf::server, one.wanted), of_server);
      const bool fits = all < 7 && of_session < 4 && of_server < 5 && (tool != "a" || of_tool < 2);
      ASSERT_FALSE(one.place.waits() && fits);
    }
  }
  EXPECT_GT(waiter_.told, 100);
  held.clear();
  for (const std::uint32_t server : {0U, 1U}) {
    EXPECT_EQ(places().in_flight(BoundOf::server, {.server = server}), 0U);
    EXPECT_EQ(places().in_flight(BoundOf::tool, {.server = server, .tool = "a"}), 0U);
    EXPECT_EQ(places().waiting(server), 0U);
  }
  EXPECT_EQ(places().in_flight(BoundOf::user, {}), 0U);
}

TEST_F(CallPlacesTest, EachRefusalSaysWhichBoundAndWhenToTryAgain) {
  const auto text = [](const Busy& busy) { return busy_text(busy, "files", "read"); };
  EXPECT_EQ(
      text({.why = Why::rate,
            .of = BoundOf::tool,
            .bounds = {.rate = Rate{10, 1s, 20}},
            .retry_after = 100ms}),
      "too many calls of tool \"read\" of server \"files\": 10/s, 20 at once are allowed; try "
      "again in 100ms");
  EXPECT_EQ(text({.why = Why::in_flight,
                  .of = BoundOf::server,
                  .bounds = {.in_flight = 4},
                  .wait = 2,
                  .retry_after = 500ms}),
            "too many calls of server \"files\" at one time: 4 are allowed, and 2 more wait; try "
            "again when one is answered, or in 500ms");
  EXPECT_THAT(text({.why = Why::waited, .of = BoundOf::session, .retry_after = 500ms}),
              HasSubstr("no place became free in time among the calls of this session"));
  EXPECT_THAT(text({.of = BoundOf::user, .bounds = {.rate = Rate{}}}),
              HasSubstr("of yours, all servers together"));
}

// --- deadlines -----------------------------------------------------------------------------------

constexpr auto runs = CallClock::runs;
constexpr auto stands = CallClock::stands;

TEST(CallDeadline, ACallHasItsTimeAndNoMore) {
  const CallDeadline deadline({60s, 1h}, start);
  EXPECT_FALSE(deadline.is_over(start + 59'999ms, runs));
  EXPECT_TRUE(deadline.is_over(start + 60s, runs));
  EXPECT_EQ(deadline.next(runs), start + 60s);
}

TEST(CallDeadline, ProgressGivesItTimeAnewUpToTheLongest) {
  CallDeadline deadline({60s, 100s}, start);
  deadline.extend(start + 30s);
  EXPECT_FALSE(deadline.is_over(start + 89s, runs));
  EXPECT_TRUE(deadline.is_over(start + 90s, runs));
  deadline.extend(start + 80s);
  EXPECT_FALSE(deadline.is_over(start + 99s, runs));
  EXPECT_TRUE(deadline.is_over(start + 100s, runs));
  EXPECT_TRUE(deadline.is_at_longest(start + 100s));
}

TEST(CallDeadline, WhileTheServerWaitsForAnAnswerOnlyTheLongestCounts) {
  CallDeadline deadline({60s, 100s}, start);
  EXPECT_FALSE(deadline.is_over(start + 80s, stands));
  EXPECT_EQ(deadline.next(stands), start + 100s);
  EXPECT_TRUE(deadline.is_over(start + 100s, stands));
  deadline.hold_up(30s);
  EXPECT_EQ(deadline.next(runs), start + 90s);
  deadline.hold_up(30s);
  EXPECT_EQ(deadline.next(runs), start + 100s);
}

TEST(CallDeadline, NoneIsNever) {
  CallDeadline deadline({std::nullopt, std::nullopt}, start);
  deadline.extend(start);
  deadline.hold_up(1s);
  EXPECT_FALSE(deadline.is_over(start + 24h * 365, runs));
  EXPECT_FALSE(deadline.next(runs));
  EXPECT_FALSE(CallDeadline().next(stands));
  EXPECT_EQ(CallDeadline({std::nullopt, 1h}, start).next(runs), start + 1h);
  EXPECT_FALSE(CallDeadline({60s, std::nullopt}, start).next(stands));
}

TEST(CallDeadline, WhateverTheServerTellsItIsOverAtTheLongest) {
  std::mt19937 random(5);  // NOLINT(*-msc51-cpp)
  for (int run = 0; run < 200; ++run) {
    CallDeadline deadline({10s, 60s}, start);
    Instant now = start;
    while (now < start + 60s) {
      now += milliseconds(random() % 9'000);
      if (random() % 2 == 0) {
        deadline.extend(now);
      } else {
        deadline.hold_up(milliseconds(random() % 20'000));
      }
      ASSERT_LE(*deadline.next(runs), start + 60s);
    }
    ASSERT_TRUE(deadline.is_over(now, runs) && deadline.is_over(now, stands));
  }
}

TEST(RefusedAttempts, OfOneUserAreRecordedAFewTimesAndThenCounted) {
  RefusedAttempts attempts;
  for (std::uint32_t i = 0; i < RefusedAttempts::recorded_each; ++i) {
    EXPECT_TRUE(attempts.add("1001"));
  }
  EXPECT_FALSE(attempts.add("1001"));
  EXPECT_FALSE(attempts.add("1001"));
  EXPECT_TRUE(attempts.add("1002")) << "another user's is told";
  EXPECT_THAT(attempts.end_span().left_out,
              testing::ElementsAre(RefusedAttempts::LeftOut{"1001", 2}));
  EXPECT_TRUE(attempts.add("1001")) << "a new span";
}

TEST(RefusedAttempts, OfManyUsersAreBoundedTogether) {
  RefusedAttempts attempts;
  for (std::size_t i = 0; i < RefusedAttempts::most_known; ++i)
    EXPECT_TRUE(attempts.add(std::to_string(i)));
  EXPECT_FALSE(attempts.add("5000"));
  EXPECT_EQ(attempts.end_span().of_others, 1U);
}

}  // namespace
}  // namespace cellblock
