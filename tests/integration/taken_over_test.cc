// A gateway that was taken over: what it asks the launcher for is put into its channel by the test.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "supervisor/ipc/audit_packet.h"
#include "supervisor/ipc/wire.h"
#include "tests/integration/daemon.h"
#include "tests/unit/lingering_socket.h"

namespace cellblock::harness {
namespace {

constexpr int patience_ms = 20'000;

class TakenOver : public testing::Test {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: it takes a gateway's channel";
    daemon_.start({.servers = recorder("common", "64101, 64102") + recorder("of-bob", "64102")});
  }

  std::string recorder(std::string_view name, std::string_view users) const {
    return server_of_build(daemon_, name, "recording_server", {},
                           fmt::format("allow = {{ users = [{}], tools = [\"*\"] }}\n", users));
  }

  /// The only gateway's.
  void take_over() {
    const auto gateways = daemon_.processes_named("cellblock-gateway");
    ASSERT_EQ(gateways.size(), 1U);
    gateway_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, gateways[0], 0)));
    ASSERT_TRUE(gateway_.valid());
    channel_ = Fd(static_cast<int>(
        ::syscall(SYS_pidfd_getfd, gateway_.get(), wire::gateway_fd::launcher, 0)));
    if (!channel_.valid()) GTEST_SKIP() << "the kernel gives no descriptor of the gateway";
  }

  void expect_gateway_ends() const {
    pollfd end{gateway_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, patience_ms), 1) << "the gateway lives on";
  }

  Daemon daemon_;
  Fd gateway_;
  Fd channel_;
};

TEST_F(TakenOver, GatewaysMayNotStartWhatTheirUserMayNotUse) {
  Host of_alice = daemon_.connect(alice);
  of_alice.open_session("common");
  take_over();
  if (IsSkipped() || HasFatalFailure()) return;
  const wire::GatewayRequest request{
      .kind = wire::GatewayRequestKind::start_cell, .request = 4242, .server_index = 1};
  ASSERT_TRUE(send_record(channel_.get(), request));
  expect_gateway_ends();
  Host of_bob = daemon_.connect(bob);
  of_bob.open_session("of-bob");
}

TEST_F(TakenOver, GatewaysCannotKeepTheLauncherWaitingByWhatTheyAttach) {
  Host of_alice = daemon_.connect(alice);
  of_alice.open_session("common");
  take_over();
  if (IsSkipped() || HasFatalFailure()) return;
  LingeringSocket socket;
  socket.queue_into(channel_.get());
  expect_gateway_ends();
  Host of_bob = daemon_.connect(bob);
  of_bob.open_session("of-bob");
}

TEST_F(TakenOver, GatewaysThatAskWithoutEndWhatTheirCellsUseKeepNobodyElseWaiting) {
  Host of_alice = daemon_.connect(alice);
  of_alice.open_session("common");
  take_over();
  if (IsSkipped() || HasFatalFailure()) return;
  const wire::GatewayRequest request{.kind = wire::GatewayRequestKind::usage};
  for (int i = 0; i < 5'000 && send_record(channel_.get(), request); ++i) continue;
  Host of_bob = daemon_.connect(bob);
  of_bob.open_session("of-bob");
}

TEST_F(TakenOver, GatewaysMakeUpNoWordOfAnAdministratorUnnoticed) {
  Host of_alice = daemon_.connect(alice);
  of_alice.open_session("common");
  take_over();
  if (IsSkipped() || HasFatalFailure()) return;
  const Fd audit(
      static_cast<int>(::syscall(SYS_pidfd_getfd, gateway_.get(), wire::gateway_fd::audit, 0)));
  ASSERT_TRUE(audit.valid());
  wire::AuditRecord word;
  word.kind = wire::AuditKind::approval;
  word.outcome = wire::AuditOutcome::ok;
  word.number = 1'000'000;
  std::ranges::copy(std::string_view("allowed by uid 0"), word.reason.begin());
  ASSERT_TRUE(send_record(audit.get(), word));
  of_alice.end_input();
  EXPECT_TRUE(daemon_.stop());
  const auto verify = daemon_.command(
      {"audit", "verify", "--log", daemon_.directory().path("log/audit.log")}, User{0, 0, {}});
  static_cast<void>(verify->wait());
  EXPECT_THAT(verify->output().all() + verify->errors().all(),
              testing::HasSubstr("but the supervisor tells of no connection of uid 0"));
}

TEST_F(TakenOver, GatewaysSayInTheLogWhatIsMarkedAsTheirs) {
  Host of_alice = daemon_.connect(alice);
  of_alice.open_session("common");
  take_over();
  if (IsSkipped() || HasFatalFailure()) return;
  const Fd said(static_cast<int>(::syscall(SYS_pidfd_getfd, gateway_.get(), STDERR_FILENO, 0)));
  ASSERT_TRUE(said.valid());
  ASSERT_TRUE(write_all(said.get(), "<3>cellblockd: error: \x1b[2Jforged\n"));
  EXPECT_TRUE(daemon_.process().errors().wait_for(
      "cellblock-gateway of uid 64101: <3>cellblockd: error: \\x1b[2Jforged\n"));
  EXPECT_EQ(::lseek(said.get(), 0, SEEK_SET), -1) << "the log itself could be overwritten";
}

TEST_F(TakenOver, GatewaysThatFloodTheLogKeepNobodyElseWaiting) {
  Host of_alice = daemon_.connect(alice);
  of_alice.open_session("common");
  take_over();
  if (IsSkipped() || HasFatalFailure()) return;
  const Fd said(static_cast<int>(::syscall(SYS_pidfd_getfd, gateway_.get(), STDERR_FILENO, 0)));
  ASSERT_TRUE(said.valid());
  std::string flood;
  for (int i = 0; i < 20'000; ++i) flood += "again\n";
  ASSERT_TRUE(write_all(said.get(), flood));
  Host of_bob = daemon_.connect(bob);
  of_bob.open_session("of-bob");
  EXPECT_EQ(daemon_.stop(), 0);
  EXPECT_TRUE(daemon_.process().errors().wait_for("more lines were left out"));
}

}  // namespace
}  // namespace cellblock::harness
