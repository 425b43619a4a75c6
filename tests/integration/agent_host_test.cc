#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/integration/daemon.h"

/// examples/agent_host with its own script, against servers in their cells.
namespace cellblock::harness {
namespace {

using testing::HasSubstr;

std::string script() {
  std::ifstream file(CELLBLOCK_SOURCE "/examples/agent_host/script.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

class AgentHost : public testing::Test {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root";
    daemon_.start({.servers = server_of_build(daemon_, "echo", "echo_server") +
                              server_of_build(daemon_, "recorder", "recording_server")});
  }

  std::unique_ptr<Process> start() const {
    Process::Options options;
    options.command = {daemon_.directory().install("agent_host"),
                       daemon_.directory().write("script.json", script()),
                       "--allow",
                       "echo__*",
                       "--allow",
                       "recorder__hang",
                       "--deny",
                       "recorder__exit",
                       "--timeout",
                       "2000"};
    options.environment = {"CELLBLOCK_SOCKET=" + daemon_.socket(),
                           "LD_LIBRARY_PATH=" + daemon_.directory().path("bin")};
    options.user = daemon_.user();
    return std::make_unique<Process>(options);
  }

  Daemon daemon_;
};

TEST_F(AgentHost, RunsItsScriptAgainstSeveralServers) {
  const auto host = start();
  host->write("y\n");
  host->close_input();
  EXPECT_EQ(host->wait(), 0) << host->output().all() << host->errors().all();
  EXPECT_THAT(host->output().all(), HasSubstr("answer: That was all."));
}

TEST_F(AgentHost, CallsNothingThatThePersonHasNotApproved) {
  const auto host = start();
  host->close_input();
  EXPECT_NE(host->wait(), 0);
  EXPECT_THAT(host->errors().all(), HasSubstr("the user said no"));
}

}  // namespace
}  // namespace cellblock::harness
