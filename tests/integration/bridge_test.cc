// `cellblock connect`: a host's own standard streams go to the gateway, and the bridge ends when
// either side does.

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
using testing::HasSubstr;

constexpr std::string_view initialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"
    "\n";

class Bridge : public testing::TestWithParam<Mode> {
 protected:
  Bridge() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
    daemon_.start(
        {.servers = server_of_build(daemon_, "echo", "echo_server") +
                    server_of_build(daemon_, "broken", "misbehaving_server", {"exit-one"})});
  }

  Daemon daemon_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Bridge, testing::Values(Mode::system, Mode::user), name_of_mode);

TEST_P(Bridge, CarriesASessionAndEndsWithItsInput) {
  const auto bridge = daemon_.command({"connect", "echo"});
  bridge->write(initialize);
  EXPECT_TRUE(bridge->output().wait_for("echo-server")) << bridge->errors().so_far();
  bridge->close_input();
  EXPECT_EQ(bridge->wait(), 0) << bridge->errors().so_far();
}

TEST_P(Bridge, HandsItsStreamsToTheGatewayAndAddsNoHop) {
  auto to_server = make_pipe();
  auto from_server = make_pipe();
  ASSERT_TRUE(to_server && from_server);
  Host control = daemon_.connect();
  const int streams[] = {to_server->first.get(), from_server->second.get()};
  control.send_with({{"jsonrpc", "2.0"},
                     {"id", 1},
                     {"method", "cellblock/attach"},
                     {"params", {{"server", "echo"}, {"stdio", true}}}},
                    streams);
  const json attached = control.receive();
  EXPECT_EQ(attached["result"]["stdio"], true) << attached.dump();
  ASSERT_TRUE(write_all(to_server->second.get(), initialize));
  to_server->second.reset();
  from_server->second.reset();
  EXPECT_THAT(Output(std::move(from_server->first)).all(), HasSubstr("echo-server"));
  EXPECT_EQ(control.receive()["params"]["reason"], "host_closed");
  EXPECT_TRUE(control.at_end());
}

TEST_P(Bridge, EndsWhenItsInputWasAtItsEndFromTheStart) {
  const auto bridge = daemon_.command({"connect", "echo"});
  bridge->close_input();
  EXPECT_EQ(bridge->wait(), 0) << bridge->errors().so_far();
}

TEST_P(Bridge, AnswersTheFirstRequestWithTheCauseWhenTheServerCrashes) {
  const auto bridge = daemon_.command({"connect", "broken"});
  bridge->write(initialize);
  EXPECT_TRUE(bridge->output().wait_for("no such database: inventory"));
  const auto status = bridge->wait();
  ASSERT_TRUE(status.has_value());
  EXPECT_NE(*status, 0);
  EXPECT_THAT(bridge->errors().all(), HasSubstr("broken"));
}

TEST_P(Bridge, SaysThatAServerIsUnknown) {
  const auto bridge = daemon_.command({"connect", "no-such-server"});
  bridge->write(initialize);
  EXPECT_TRUE(bridge->output().wait_for("-31001")) << bridge->errors().so_far();
  EXPECT_NE(bridge->wait(), 0);
}

TEST_P(Bridge, KilledItEndsItsCell) {
  const auto bridge = daemon_.command({"connect", "echo"});
  bridge->write(initialize);
  ASSERT_TRUE(bridge->output().wait_for("echo-server"));
  const auto cell = daemon_.processes_named("echo_server");
  ASSERT_EQ(cell.size(), 1U);
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, cell[0], 0)));
  bridge->signal(SIGKILL);
  EXPECT_TRUE(!pidfd.valid() || wait_for_end(pidfd.get()));
}

TEST_P(Bridge, WaitsForADaemonThatEndedUntilItsHostGoes) {
  const auto bridge = daemon_.command({"connect", "echo"});
  bridge->write(initialize);
  ASSERT_TRUE(bridge->output().wait_for("echo-server"));
  EXPECT_EQ(daemon_.stop(), 0);
  EXPECT_TRUE(bridge->errors().wait_for("waiting"));
  bridge->close_input();
  EXPECT_TRUE(bridge->wait().has_value());
}

// --- the other commands, as a person meets them --------------------------------------------------

TEST_P(Bridge, ListsAndCallsToolsFromTheCommandLine) {
  const auto tools = daemon_.command({"tools", "echo"});
  EXPECT_THAT(tools->output().all(), HasSubstr("echo"));
  EXPECT_EQ(tools->wait(), 0) << tools->errors().so_far();
  const auto call = daemon_.command({"call", "echo", "echo", R"({"text":"from the shell"})"});
  EXPECT_THAT(call->output().all(), HasSubstr("from the shell"));
  EXPECT_EQ(call->wait(), 0) << call->errors().so_far();
}

TEST_P(Bridge, ShowsStatusAsJson) {
  const auto status = daemon_.command({"--json", "status"});
  const json shown = json::parse(status->output().all(), nullptr, false);
  EXPECT_EQ(status->wait(), 0) << status->errors().so_far();
  EXPECT_THAT(shown.dump(), HasSubstr("broken"));
}

}  // namespace
}  // namespace cellblock::harness
