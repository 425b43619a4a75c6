// Any process of cellblock may be killed at any moment: what must end ends, and no cell survives.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/integration/daemon.h"
#include "tests/integration/left_behind.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;

class Death : public testing::TestWithParam<Mode> {
 protected:
  Death() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: it kills other users' processes";
    daemon_.start(
        {.servers = server_of_build(daemon_, "echo", "echo_server") +
                    server_of_build(daemon_, "silent", "misbehaving_server", {"stay-silent"}) +
                    http_table(daemon_)});
    if (HasFatalFailure()) return;
    ASSERT_EQ(daemon_.processes_named("cellblock-http").size(), 1U);
    host_.emplace(daemon_.connect());
    host_->open_session("echo");
  }

  int the(std::string_view program) const { return daemon_.processes_named(program).at(0); }

  static Fd watch(int pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

  void expect_session_closed() { EXPECT_TRUE(host_->at_end()); }

  /// For the processes without which nothing goes on.
  void expect_everything_ends() {
    EXPECT_THAT(daemon_.survivors(), testing::IsEmpty());
    EXPECT_TRUE(host_->at_end());
  }

  /// A fresh session works. The daemon may still be about to notice the death.
  void expect_fresh_session() {
    Host host = daemon_.connect();
    host.open_session("echo");
    EXPECT_EQ(host.call_for_text("echo", {{"text", "again"}}), "again");
  }

  Daemon daemon_;
  std::optional<Host> host_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Death, testing::Values(Mode::system, Mode::user), name_of_mode);

TEST_P(Death, OfTheServerLeavesItsSession) {
  const Fd server = watch(the("echo_server"));
  ::kill(the("echo_server"), SIGKILL);
  EXPECT_TRUE(wait_for_end(server.get()));
  // Lost, if the gateway was still about to notice the death; then it has by now.
  EXPECT_TRUE(host_->call("echo", {{"text", "lost or not"}}).contains("result"));
  EXPECT_EQ(host_->call_for_text("echo", {{"text", "again"}}), "again");
  expect_fresh_session();
}

TEST_P(Death, OfAGatewayEndsItsCellsAndTheNextConnectionGetsAFreshOne) {
  const Fd server = watch(the("echo_server"));
  const Fd gateway = watch(the("cellblock-gateway"));
  ::kill(the("cellblock-gateway"), SIGKILL);
  EXPECT_TRUE(wait_for_end(gateway.get()));
  EXPECT_TRUE(wait_for_end(server.get()));
  expect_session_closed();
  expect_fresh_session();
}

TEST_P(Death, OfTheAuditWriterIsMended) {
  const Fd writer = watch(the("cellblock-audit"));
  ::kill(the("cellblock-audit"), SIGKILL);
  EXPECT_TRUE(wait_for_end(writer.get()));
  // Until the writer is back calls are refused, which says so; then they work again.
  json answer = host_->call("echo", {{"text", "hello"}});
  while (answer.contains("result") && answer["result"].value("isError", false)) {
    ASSERT_EQ(answer["result"]["_meta"]["cellblock/error"]["code"], "audit_unavailable");
    answer = host_->call("echo", {{"text", "hello"}});
  }
  EXPECT_EQ(answer["result"]["content"][0]["text"], "hello") << answer.dump();
}

TEST_P(Death, OfWhoeverParsesHttpLeavesOtherSessionsAsTheyAre) {
  const Fd helper = watch(the("cellblock-http"));
  ::kill(the("cellblock-http"), SIGKILL);
  EXPECT_TRUE(wait_for_end(helper.get()));
  EXPECT_EQ(host_->call_for_text("echo", {{"text", "still"}}), "still");
}

TEST_P(Death, OfTheLauncherEndsEverything) {
  ::kill(the("cellblock-launcher"), SIGKILL);
  expect_everything_ends();
}

TEST_P(Death, OfTheSupervisorEndsEverything) {
  daemon_.process().signal(SIGKILL);
  expect_everything_ends();
  // Nobody is left who could.
  ::unlink(daemon_.socket().c_str());
  ::unlink(daemon_.directory().path("run/http.sock").c_str());
}

TEST_P(Death, BySigtermIsAnOrderlyEnd) {
  Host waiting = daemon_.connect();
  EXPECT_TRUE(waiting.attach("silent").contains("result"));
  waiting.send({{"jsonrpc", "2.0"}, {"id", "unanswered"}, {"method", "ping"}});
  waiting.request("cellblock/status");  // answered after the ping was passed on
  EXPECT_EQ(daemon_.stop(), 0);
  EXPECT_EQ(waiting.answer_to("unanswered")["error"]["data"]["code"], "shutting_down");
  EXPECT_TRUE(waiting.at_end());
  expect_everything_ends();
}

TEST_P(Death, BySigintIsAnOrderlyEnd) {
  daemon_.process().signal(SIGINT);
  EXPECT_EQ(daemon_.process().wait(), 0);
  expect_everything_ends();
}

}  // namespace
}  // namespace cellblock::harness
