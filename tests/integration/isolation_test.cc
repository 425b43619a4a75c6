// Users are kept apart, and a server that one may not use is the same as none.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "tests/integration/daemon.h"
#include "tests/integration/left_behind.h"
#include "tests/unit/lingering_socket.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Isolation : public testing::Test {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: two users on one daemon";
  }

  /// A recording server under that name, for these users.
  std::string recorder(std::string_view name, std::string_view users,
                       std::string_view more = "") const {
    return server_of_build(
        daemon_, name, "recording_server", {},
        fmt::format("allow = {{ users = [{}], tools = [\"*\"] }}\n{}", users, more));
  }

  Daemon daemon_;
};

TEST_F(Isolation, AnUnknownServerAndAForbiddenOneAreTheSameByteForByte) {
  daemon_.start({.servers = recorder("common", "64101") + recorder("hidden", "64102")});
  const auto answer_to = [this](std::string_view name) {
    Host host = daemon_.connect(alice);
    host.attach(std::string(name));
    host.send_bytes(fmt::format(
        R"({{"jsonrpc":"2.0","id":2,"method":"cellblock/attach","params":{{"server":"{}"}}}})"
        "\n",
        name));
    return host.line();
  };
  const auto forbidden = answer_to("hidden");
  const auto unknown = answer_to("nobody");  // of the same length, so that only the name differs
  ASSERT_TRUE(forbidden.has_value());
  ASSERT_TRUE(unknown.has_value());
  std::string renamed = *unknown;
  for (auto at = renamed.find("nobody"); at != std::string::npos; at = renamed.find("nobody")) {
    renamed.replace(at, 6, "hidden");
  }
  EXPECT_EQ(renamed, *forbidden);
  EXPECT_THAT(*forbidden, HasSubstr("-31001"));
}

TEST_F(Isolation, StatusShowsOnlyTheServersThatAUserMayUse) {
  daemon_.start({.servers = recorder("common", "64101, 64102") + recorder("of-bob", "64102")});
  Host host = daemon_.connect(alice);
  const std::string status = host.request("cellblock/status").dump();
  EXPECT_THAT(status, HasSubstr("common"));
  EXPECT_THAT(status, Not(HasSubstr("of-bob")));
}

TEST_F(Isolation, TwoUsersHaveGatewaysAndServerIdsOfTheirOwn) {
  daemon_.start({.servers = recorder("common", "64101, 64102")});
  Host of_alice = daemon_.connect(alice);
  Host of_bob = daemon_.connect(bob);
  of_alice.open_session("common");
  of_bob.open_session("common");
  const auto uids_of = [this](std::string_view program) {
    std::vector<std::string> uids;
    for (const int pid : daemon_.processes_named(program)) uids.push_back(status_field(pid, "Uid"));
    return uids;
  };
  const auto gateways = uids_of("cellblock-gateway");
  ASSERT_EQ(gateways.size(), 2U);
  EXPECT_NE(gateways[0], gateways[1]);
  const auto servers = uids_of("recording_server");
  ASSERT_EQ(servers.size(), 2U);
  EXPECT_NE(servers[0], servers[1]);
}

TEST_F(Isolation, AUsersLogsDoNotShowAnothersCells) {
  daemon_.start({.servers = recorder("common", "64101, 64102")});
  Host of_bob = daemon_.connect(bob);
  of_bob.open_session("common");
  of_bob.call("exit", {{"code", 1}, {"stderr", "a secret of bob"}});
  Host of_alice = daemon_.connect(alice);
  const json logs = of_alice.request("cellblock/logs", {{"server", "common"}});
  ASSERT_TRUE(logs.contains("result")) << logs.dump();
  EXPECT_THAT(logs.dump(), Not(HasSubstr("a secret of bob")));
}

TEST_F(Isolation, AStopOfOneUserLeavesAnothersCellsAlone) {
  daemon_.start({.servers = recorder("common", "64101, 64102")});
  Host of_bob = daemon_.connect(bob);
  of_bob.open_session("common");
  Host of_alice = daemon_.connect(alice);
  EXPECT_EQ(of_alice.request("cellblock/stop", {{"server", "common"}})["result"]["stopped"], 0);
  EXPECT_EQ(of_bob.call_for_text("oversized", {{"bytes", 1}}), "x");
}

TEST_F(Isolation, AToolThatIsNotAllowedDoesNotExist) {
  daemon_.start(
      {.servers = server_of_build(daemon_, "narrow", "recording_server", {},
                                  "allow = { users = [64101], tools = [\"see*\", \"whoami\"] }")});
  Host host = daemon_.connect(alice);
  host.open_session("narrow");
  const json listed = host.request("tools/list")["result"]["tools"];
  ASSERT_EQ(listed.size(), 2U) << listed.dump();
  EXPECT_EQ(listed[0]["name"], "seen");
  EXPECT_EQ(listed[1]["name"], "whoami");
  const json forbidden = host.call("exit");
  EXPECT_EQ(forbidden["error"]["code"], -32602) << forbidden.dump();
  EXPECT_EQ(forbidden["error"]["message"], "Unknown tool: exit");
  EXPECT_THAT(host.call_for_text("seen"), Not(HasSubstr("\\\"exit\\\"")));
}

TEST_F(Isolation, AGroupMayBeAllowed) {
  daemon_.start({.servers = server_of_build(
                     daemon_, "grouped", "recording_server", {},
                     fmt::format("allow = {{ groups = [{}], tools = [\"*\"] }}", hosts_group))});
  Host host = daemon_.connect(bob);
  EXPECT_TRUE(host.attach("grouped").contains("result"));
}

// A cut list of groups could hide the one that decides.
TEST_F(Isolation, AUserInMoreGroupsThanCanBeJudgedIsToldSoAndLogged) {
  daemon_.start({.servers = recorder("common", "64101")});
  User joiner = alice;
  for (gid_t group = 70'000; group < 70'300; ++group) joiner.groups.push_back(group);
  Host host = daemon_.connect(joiner);
  const json refused = host.receive();
  EXPECT_EQ(refused["error"]["code"], -31006) << refused.dump();
  EXPECT_THAT(refused.dump(), HasSubstr("groups"));
  EXPECT_TRUE(host.at_end());
  EXPECT_TRUE(daemon_.process().errors().wait_for("it cannot be told whose it is"));
}

TEST_F(Isolation, TheConnectionsOfOneUserAreBoundedAndAnothersStillAccepted) {
  daemon_.start({.servers = recorder("common", "64101, 64102"),
                 .socket_extra = "max_connections_per_user = 2"});
  Host first = daemon_.connect(alice);
  Host second = daemon_.connect(alice);
  ASSERT_TRUE(first.request("cellblock/status").contains("result"));
  ASSERT_TRUE(second.request("cellblock/status").contains("result"));
  Host third = daemon_.connect(alice);
  const json refused = third.receive();
  EXPECT_EQ(refused["error"]["code"], -31006) << refused.dump();
  EXPECT_TRUE(third.at_end());
  Host other = daemon_.connect(bob);
  EXPECT_TRUE(other.request("cellblock/status").contains("result"));
}

TEST_F(Isolation, CellsOfOneUserAreBoundedSoThatAnIdleOneGivesWay) {
  daemon_.start({.servers = recorder("common", "64101", "max_cells_per_user = 1")});
  Host first = daemon_.connect(alice);
  ASSERT_TRUE(first.attach("common").contains("result"));
  Host second = daemon_.connect(alice);
  const json attached = second.attach("common");
  ASSERT_TRUE(attached.contains("result")) << attached;
  const json status = second.request("cellblock/status");
  const json& cells = status["result"]["servers"][0]["cells"];
  ASSERT_EQ(cells.size(), 1U) << cells;
  EXPECT_EQ(cells[0]["cell"], attached["result"]["cell"]);
}

TEST_F(Isolation, NobodyOutsideTheGroupCanConnect) {
  daemon_.start({.servers = recorder("common", "64103")});
  EXPECT_THROW(daemon_.connect(User{64103, 64103, {}}), std::system_error);
}

TEST_F(Isolation, WhomNoServerNamesCostsNoGateway) {
  daemon_.start({.servers = recorder("common", "64101")});
  Host stranger = daemon_.connect(bob);
  EXPECT_EQ(stranger.receive()["error"]["code"], -31001);
  EXPECT_TRUE(stranger.at_end());
  EXPECT_TRUE(daemon_.processes_named("cellblock-gateway").empty());
}

// The kernel drops what a peer has queued when the last copy of his connection is closed, and waits
// for it as long as he wishes.
// With SO_PASSRIGHTS (Linux 6.16) nothing can be queued before a gateway has the connection;
// unclosed_test.cc claims the rest on any kernel.
bool can_nothing_be_queued() {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int off = 0;
  constexpr int so_passrights = 83;
  const bool is_refused = ::setsockopt(probe, SOL_SOCKET, so_passrights, &off, sizeof off) == 0;
  ::close(probe);
  return is_refused;
}

TEST_F(Isolation, ARefusedPeersLingeringDescriptorsDelayNobody) {
  if (can_nothing_be_queued()) GTEST_SKIP() << "this kernel lets nobody queue descriptors there";
  daemon_.start({.servers = recorder("common", "64101")});
  Host host = daemon_.connect(alice);
  ASSERT_TRUE(host.request("cellblock/status").contains("result"));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    // The daemon does not look at a connection before it is woken; stopped, it is late for sure.
    daemon_.process().signal(SIGSTOP);
    LingeringSocket lingering;
    Host stranger = daemon_.connect(bob);
    lingering.queue_into(stranger.socket());
    daemon_.process().signal(SIGCONT);
    EXPECT_EQ(stranger.receive()["error"]["code"], -31001);
  }
  Host another = daemon_.connect(alice);
  EXPECT_TRUE(another.request("cellblock/status").contains("result"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

// Those that nobody has accepted when the daemon stops.
TEST_F(Isolation, LingeringDescriptorsInTheQueueDoNotDelayTheEnd) {
  if (can_nothing_be_queued()) GTEST_SKIP() << "this kernel lets nobody queue descriptors there";
  daemon_.start({.servers = recorder("common", "64101")});
  daemon_.process().signal(SIGSTOP);
  LingeringSocket lingering;
  Host stranger = daemon_.connect(bob);
  lingering.queue_into(stranger.socket());
  const auto start = std::chrono::steady_clock::now();
  daemon_.process().signal(SIGTERM);
  daemon_.process().signal(SIGCONT);
  EXPECT_EQ(daemon_.process().wait(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(Isolation, SwitchedOffItStartsNothing) {
  daemon_.start({.servers = recorder("common", "64101"), .daemon_extra = "enabled = false"});
  Host host = daemon_.connect(alice);
  EXPECT_EQ(host.receive()["error"]["code"], -31008) << "said at once, whatever is asked";
  EXPECT_TRUE(host.at_end());
  EXPECT_TRUE(daemon_.processes_named("recording_server").empty());
}

}  // namespace
}  // namespace cellblock::harness
