#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "supervisor/activation/service_offer.h"
#include "supervisor/daemon/helpers/launcher_watchdog.h"
#include "supervisor/daemon/status/service_status.h"

namespace cellblock::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t own_pid = 100;

ServiceVariables one_socket() {
  return {.listen_pid = "100", .listen_fds = "1", .listen_fdnames = "mcp"};
}

std::string why_not(const ServiceVariables& variables) {
  const auto offer = read_offer(variables, own_pid);
  return offer ? "" : offer.error().text;
}

TEST(ServiceOffer, IsNothingInAnEmptyEnvironment) {
  const auto offer = read_offer({}, own_pid).value();
  EXPECT_FALSE(offer.socket);
  EXPECT_FALSE(offer.watchdog);
}

TEST(ServiceOffer, IsOneSocketByItsName) { EXPECT_TRUE(read_offer(one_socket(), own_pid)->socket); }

TEST(ServiceOffer, OfSocketsForAnotherProcessIsNone) {
  auto variables = one_socket();
  variables.listen_pid = "101";
  EXPECT_FALSE(read_offer(variables, own_pid).value().socket);
}

TEST(ServiceOffer, OfNoSocketsIsNone) {
  auto variables = one_socket();
  variables.listen_fds = "0";
  EXPECT_FALSE(read_offer(variables, own_pid).value().socket);
}

TEST(ServiceOffer, WithASocketOfAnotherNameOrNoneIsRefused) {
  auto variables = one_socket();
  variables.listen_fdnames = "cellblock.socket";
  EXPECT_THAT(why_not(variables), HasSubstr("named \"cellblock.socket\"; allowed"));
  variables.listen_fdnames.reset();
  EXPECT_THAT(why_not(variables), HasSubstr("named \"\"; allowed"));
}

TEST(ServiceOffer, OfMoreThanOneSocketIsRefused) {
  auto variables = one_socket();
  variables.listen_fds = "2";
  variables.listen_fdnames = "mcp:mcp";
  EXPECT_THAT(why_not(variables), HasSubstr("passes 2 sockets"));
}

TEST(ServiceOffer, ThatIsNoNumberIsRefused) {
  for (const char* wrong : {"", "1x", "-1", " 1", "99999999999999999999", "one"}) {
    auto variables = one_socket();
    variables.listen_fds = wrong;
    EXPECT_THAT(why_not(variables), HasSubstr("is no number")) << wrong;
    variables = one_socket();
    variables.listen_pid = wrong;
    EXPECT_THAT(why_not(variables), HasSubstr("is no number")) << wrong;
    EXPECT_THAT(why_not({.watchdog_usec = wrong}), HasSubstr("is no number")) << wrong;
  }
}

TEST(ServiceOffer, OfAWatchdogIsItsPatience) {
  using std::chrono::seconds;
  EXPECT_EQ(read_offer({.watchdog_usec = "60000000"}, own_pid)->watchdog, seconds(60));
  EXPECT_EQ(read_offer({.watchdog_pid = "100", .watchdog_usec = "1000000"}, own_pid)->watchdog,
            seconds(1));
}

TEST(ServiceOffer, OfAWatchdogForAnotherProcessIsNone) {
  const auto offer = read_offer({.watchdog_pid = "101", .watchdog_usec = "1000000"}, own_pid);
  EXPECT_FALSE(offer.value().watchdog);
}

TEST(ServiceOffer, OfAWatchdogThatNobodyCanSatisfyIsRefused) {
  EXPECT_THAT(why_not({.watchdog_usec = "0"}), HasSubstr("out of range"));
  EXPECT_THAT(why_not({.watchdog_usec = "9223372036854775807"}), HasSubstr("out of range"));
}

TEST(PulseInterval, IsAThirdOfTheManagersPatienceAndNeverLong) {
  using std::chrono::seconds;
  EXPECT_EQ(watchdog_interval({.watchdog = seconds(3)}), seconds(1));
  EXPECT_EQ(watchdog_interval({.watchdog = seconds(3'600)}), seconds(10));
  EXPECT_EQ(watchdog_interval({}), seconds(10));
}

class PulseTest : public ::testing::Test {
 protected:
  Result<void> ask() {
    ++asked_;
    if (!reachable_) return fail("its channel is full");
    return {};
  }
  void run_until_asked_again() {
    const int before = asked_;
    while (asked_ == before) loop_.run_one();
  }

  boost::asio::io_context loop_{1};
  int asked_ = 0;
  bool reachable_ = true;
  LauncherWatchdog watchdog_{loop_, std::chrono::milliseconds(1), [this] { return ask(); }};
};

TEST_F(PulseTest, AsksAtOnce) { EXPECT_EQ(asked_, 1); }

TEST_F(PulseTest, AsksAgainWhenItHasBeenAnswered) {
  EXPECT_EQ(watchdog_.answered(), LauncherWatchdog::Answer::due);
  run_until_asked_again();
  EXPECT_EQ(asked_, 2);
}

TEST_F(PulseTest, DoesNotAskAgainBeforeItHasBeenAnswered) {
  for (int beats = 0; beats < 3; ++beats) loop_.run_one();
  EXPECT_EQ(asked_, 1);
}

TEST_F(PulseTest, TakesOneAnswerToOneQuestion) {
  EXPECT_EQ(watchdog_.answered(), LauncherWatchdog::Answer::due);
  EXPECT_EQ(watchdog_.answered(), LauncherWatchdog::Answer::unasked);
}

TEST_F(PulseTest, TriesAgainWhereItCouldNotAskAndExpectsNoAnswer) {
  reachable_ = false;
  static_cast<void>(watchdog_.answered());
  run_until_asked_again();
  run_until_asked_again();
  EXPECT_EQ(watchdog_.answered(), LauncherWatchdog::Answer::unasked);
}

TEST(StatusLine, CountsWhatIsDeclaredAndRuns) {
  EXPECT_EQ(status_line({.servers = 1, .users = 2, .cells = 3}),
            "1 server declared, 2 users, 3 cells");
}

TEST(StatusLine, SaysWhatIsWrong) {
  const std::string line = status_line(
      {.switched_off = true, .audit_runs = false, .last_failure = "gateway for uid 7 crashed"});
  EXPECT_THAT(line, HasSubstr("; switched off"));
  EXPECT_THAT(line, HasSubstr("; the audit writer is gone: calls are refused"));
  EXPECT_THAT(line, HasSubstr("; last failure: gateway for uid 7 crashed"));
}

TEST(StatusLine, CannotSayAnythingElseToTheManager) {
  EXPECT_THAT(status_line({.last_failure = "x\nWATCHDOG=1"}), Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace cellblock::daemon
