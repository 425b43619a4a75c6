#include <gtest/gtest.h>

#include "supervisor/gateway/message/host_peer.h"

/// How long a host is waited for, without a host.
namespace cellblock::gateway {
namespace {

using Verdict = HostPatience::Verdict;

constexpr HostPatience::Bounds bounds{
    .first_message = Milliseconds{120'000}, .line = Milliseconds{60'000}, .most_skipped = 1000};

class HostPatienceTest : public testing::Test {
 protected:
  Verdict after(Milliseconds time, const LineProgress& seen, bool is_held = false) {
    now_ += time;
    patience_.look(seen, is_held, now_);
    return patience_.verdict(now_);
  }

  Time now_{};
  HostPatience patience_{bounds, now_};
};

TEST_F(HostPatienceTest, WhoSaysNothingIsGivenUp) {
  EXPECT_EQ(patience_.due(), now_ + bounds.first_message);
  EXPECT_EQ(after(Milliseconds{119'999}, {}), Verdict::waits);
  EXPECT_EQ(after(Milliseconds{1}, {}), Verdict::silent);
}

TEST_F(HostPatienceTest, WhoHasSaidSomethingMayBeSilentForEver) {
  EXPECT_EQ(after(Milliseconds{1}, {.lines = 1}), Verdict::waits);
  EXPECT_EQ(patience_.due(), std::nullopt);
  EXPECT_EQ(after(std::chrono::hours{1000}, {.lines = 1}), Verdict::waits);
}

TEST_F(HostPatienceTest, ALineThatHasBegunHasToEnd) {
  after(Milliseconds{1}, {.lines = 1});
  EXPECT_EQ(after(Milliseconds{1}, {.lines = 1, .has_begun = true}), Verdict::waits);
  EXPECT_EQ(after(Milliseconds{59'999}, {.lines = 1, .has_begun = true}), Verdict::waits);
  EXPECT_EQ(after(Milliseconds{1}, {.lines = 1, .has_begun = true}), Verdict::slow_line);
}

TEST_F(HostPatienceTest, EachLineHasItsOwnTime) {
  for (std::uint64_t lines = 1; lines < 10; ++lines) {
    EXPECT_EQ(after(Milliseconds{59'999}, {.lines = lines, .has_begun = true}), Verdict::waits);
  }
}

TEST_F(HostPatienceTest, AHostThatIsNotReadHasNoClock) {
  after(Milliseconds{1}, {.lines = 1, .has_begun = true});
  EXPECT_EQ(after(Milliseconds{90'000}, {.lines = 1, .has_begun = true}, true), Verdict::waits);
  EXPECT_EQ(patience_.due(), std::nullopt);
  EXPECT_EQ(after(Milliseconds{90'000}, {.lines = 1, .has_begun = true}), Verdict::waits);
  EXPECT_EQ(after(Milliseconds{60'000}, {.lines = 1, .has_begun = true}), Verdict::slow_line);
}

TEST_F(HostPatienceTest, ALineThatIsTooLongMayGoOnForSoMuch) {
  EXPECT_EQ(after(Milliseconds{1}, {.lines = 1, .has_begun = true, .skipped = 1000}),
            Verdict::waits);
  EXPECT_EQ(after(Milliseconds{1}, {.lines = 1, .has_begun = true, .skipped = 1001}),
            Verdict::endless_line);
}

}  // namespace
}  // namespace cellblock::gateway
