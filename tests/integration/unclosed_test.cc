#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <thread>
#include <vector>

#include "tests/integration/daemon.h"
#include "tests/unit/scratch_directory.h"
#include "tests/unit/unanswering_file.h"

/// Peers who attach descriptors whose last close does not end.
namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const User stranger{64103, 64103, {hosts_group}};

class Unclosed : public testing::Test {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: another user, and a mount";
  }

  void start(std::vector<std::string> wrapper = {}) {
    daemon_.start({.servers = server_of_build(daemon_, "echo", "echo_server"),
                   .wrapper = std::move(wrapper)});
  }
  void start_without_the_option() { start({"/usr/bin/python3", WITHOUT_PASS_RIGHTS}); }

  /// What these say waits for the daemon, which refuses or hands over all of them in one turn.
  void attack(const User& user, UnansweringFile& file, int times) {
    ::kill(daemon_.pid(), SIGSTOP);
    std::vector<Host> hosts;
    for (int i = 0; i < times; ++i) hosts.push_back(daemon_.connect(user));
    for (const Host& host : hosts) EXPECT_TRUE(file.queue_into(host.socket()));
    hosts.clear();
    ::kill(daemon_.pid(), SIGCONT);
  }

  void expect_served(const User& user) {
    Host host = daemon_.connect(user);
    EXPECT_NO_THROW(host.open_session("echo"));
    EXPECT_TRUE(host.request("tools/list").contains("result"));
  }

  void keep_out_in_vain(UnansweringFile& file) {
    attack(stranger, file, 40);
    EXPECT_TRUE(daemon_.process().errors().wait_for("connections of uid 64103 cannot be closed"));
    expect_served(alice);
    attack(stranger, file, 40);
    expect_served(alice);
    auto disable = daemon_.command({"disable"}, {0, 0, {}});
    EXPECT_EQ(disable->wait(), 0);
    EXPECT_EQ(daemon_.stop(), 0) << "whose children are left";
  }

  Daemon daemon_;
};

TEST_F(Unclosed, NothingCanBeAttachedBeforeAGatewayHasTheConnection) {
  start();
  if (HasFatalFailure()) return;
  ::kill(daemon_.pid(), SIGSTOP);
  const Host host = daemon_.connect(stranger);
  const int attached = 0;
  const auto sent =
      send_record(host.socket(), std::as_bytes(std::span("x", 1)), std::span(&attached, 1));
  ::kill(daemon_.pid(), SIGCONT);
  if (sent) GTEST_SKIP() << "SO_PASSRIGHTS: Linux 6.16 and later";
  EXPECT_EQ(sent.error().number, EPERM);
}

TEST_F(Unclosed, AStrangersDescriptorsKeepNobodyOutWhereTheKernelTakesThem) {
  start_without_the_option();
  if (HasFatalFailure()) return;
  bool is_usable = false;
  // A thread's mounts are its own: the test's are compared with those from before.
  std::thread([&] {
    const ScratchDirectory scratch;
    UnansweringFile file(scratch.path(), UnansweringFile::Withholds::write);
    is_usable = file.usable();
    if (is_usable) keep_out_in_vain(file);
  }).join();
  if (!is_usable) GTEST_SKIP() << "FUSE cannot be used here";
}

}  // namespace
}  // namespace cellblock::harness
