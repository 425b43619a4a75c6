#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/integration/daemon.h"

/// What a host may send without an end.
namespace cellblock::harness {
namespace {

using nlohmann::json;

class HostLimits : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
    daemon_.start({.mode = GetParam(),
                   .servers = server_of_build(daemon_, "echo", "echo_server", {},
                                              "lines = { from_host = \"64KiB\" }")});
  }

  Daemon daemon_{GetParam()};
};

// The host cannot send all of it: the connection is closed under its hands.
TEST_P(HostLimits, ALineThatGoesOnBeyondItsLimitEndsItsSession) {
  Host host = daemon_.connect();
  host.open_session("echo");
  EXPECT_THROW(host.send_bytes(std::string(64U << 20U, 'x')), std::system_error);
  EXPECT_EQ(host.receive()["error"]["data"]["code"], "too_large");
  EXPECT_EQ(host.receive()["error"]["data"]["code"], "too_large");
  EXPECT_TRUE(host.at_end());
}

TEST_P(HostLimits, ALineThatIsTooLongAndEndsIsAnsweredAndTheSessionGoesOn) {
  Host host = daemon_.connect();
  host.open_session("echo");
  host.send_bytes(std::string(100U << 10U, 'x') + "\n");
  EXPECT_EQ(host.receive()["error"]["data"]["code"], "too_large");
  EXPECT_TRUE(host.request("tools/list").contains("result"));
}

INSTANTIATE_TEST_SUITE_P(Modes, HostLimits, testing::Values(Mode::system, Mode::user),
                         name_of_mode);

}  // namespace
}  // namespace cellblock::harness
