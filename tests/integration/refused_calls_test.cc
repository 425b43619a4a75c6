// What a server is refused costs that server alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

class RefusedCalls : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    if (GetParam() == Mode::system && !running_as_root()) GTEST_SKIP() << "needs root";
  }
};

TEST_P(RefusedCalls, MadeByTheMillionLeaveEveryServerAnswering) {
  Daemon daemon(GetParam());
  daemon.start({.mode = GetParam(),
                .servers = server_of_build(daemon, "flood", "misbehaving_server",
                                           {"flood-with-refused-calls"}) +
                           server_of_build(daemon, "echo", "echo_server")});
  Host flooding = daemon.connect();
  flooding.open_session("flood");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(flooding.call_for_text("echo", {{"text", "hello"}}), "hello");
  }
  for (int i = 0; i < 5; ++i) {
    Host quiet = daemon.connect();
    quiet.open_session("echo");
    EXPECT_EQ(quiet.call_for_text("echo", {{"text", "hello"}}), "hello");
  }
}

INSTANTIATE_TEST_SUITE_P(EveryMode, RefusedCalls, testing::Values(Mode::system, Mode::user),
                         name_of_mode);

}  // namespace
}  // namespace cellblock::harness
