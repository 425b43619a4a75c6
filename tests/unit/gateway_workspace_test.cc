#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "tests/unit/gateway_rig.h"

// Descriptors that a host sends along with its attach, in a whole gateway.

namespace cellblock::gateway::testing {
namespace {

using wire::GatewayRequestKind;

constexpr std::string_view with_workspace =
    R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"files","workspace":true}})";
constexpr std::string_view with_both =
    R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"files","stdio":true,"workspace":true}})";

Fd open_directory(const char* path) { return Fd(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)); }

bool is_same_directory(int a, int b) {
  struct stat first{};
  struct stat second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_ino == second.st_ino &&
         first.st_dev == second.st_dev;
}

class GatewayWorkspace : public GatewayRig {
 protected:
  void SetUp() override {
    GatewayRig::SetUp();
    config_.servers[0].workspace.emplace();
    start();
    host = connect();
  }

  /// With another configuration.
  void restart() {
    TearDown();
    start();
    host = connect();
  }

  void expect_refusal(std::string_view code = "workspace_refused") {
    EXPECT_EQ(host.read_json()["error"]["data"]["code"], code);
  }

  void expect_plain_start() {
    host.send(attach);
    start_cell();
    EXPECT_THAT(handed, ::testing::IsEmpty());
    EXPECT_FALSE(host.read_json()["result"].contains("workspace"));
  }

  Lines host;
};

TEST_F(GatewayWorkspace, PassesTheVeryDirectoryOn) {
  const Fd usr = open_directory("/usr");
  send_with(host.fd(), with_workspace, {usr.get()});
  start_cell();
  ASSERT_EQ(handed.size(), 1U);
  EXPECT_TRUE(is_same_directory(handed[0].get(), usr.get()));
  EXPECT_EQ(host.read_json()["result"]["workspace"], true);
}

TEST_F(GatewayWorkspace, PassesItOnBesideStdio) {
  const Fd usr = open_directory("/usr");
  Pair in = *make_pipe();
  Pair out = *make_pipe();
  send_with(host.fd(), with_both, {in.first.get(), out.second.get(), usr.get()});
  start_cell();
  ASSERT_EQ(handed.size(), 1U);
  EXPECT_TRUE(is_same_directory(handed[0].get(), usr.get()));
  const Json result = host.read_json()["result"];
  EXPECT_EQ(result["stdio"], true);
  EXPECT_EQ(result["workspace"], true);
}

TEST_F(GatewayWorkspace, RefusesWhatIsNoDirectory) {
  const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  send_with(host.fd(), with_workspace, {file.get()});
  expect_refusal();
  Pair socket = stream_pair();
  send_with(host.fd(), with_workspace, {socket.first.get()});
  expect_refusal();
  expect_plain_start();
}

TEST_F(GatewayWorkspace, RefusesAWorkspaceThatDidNotCome) {
  host.send(with_workspace);
  expect_refusal();
  expect_plain_start();
}

TEST_F(GatewayWorkspace, TakesNoneOfMoreDescriptorsThanWereAnnounced) {
  const Fd usr = open_directory("/usr");
  const Fd etc = open_directory("/etc");
  send_with(host.fd(), with_workspace, {usr.get(), etc.get()});
  expect_refusal();
  send_with(host.fd(), with_workspace, std::vector<int>(4, usr.get()));
  expect_refusal();
  expect_plain_start();
}

// A directory that nobody allowed must not come in through the back door.
TEST_F(GatewayWorkspace, GivesWhatCameWithARefusedAttachToNoCell) {
  config_.servers[0].workspace.reset();
  config_.servers[0].era = ServerEra::modern;
  restart();
  const Fd usr = open_directory("/usr");
  send_with(host.fd(), with_workspace, {usr.get()});
  expect_refusal();
  host.send(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"files__read_a","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
  start_cell();
  EXPECT_THAT(handed, ::testing::IsEmpty());
}

TEST_F(GatewayWorkspace, IgnoresDescriptorsThatNobodyAnnounced) {
  const Fd usr = open_directory("/usr");
  send_with(host.fd(), attach, {usr.get()});
  start_cell();
  EXPECT_THAT(handed, ::testing::IsEmpty());
  EXPECT_TRUE(host.read_json().contains("result"));
}

TEST_F(GatewayWorkspace, ForgetsDescriptorsOfAnEarlierLine) {
  const Fd usr = open_directory("/usr");
  send_with(host.fd(), R"({"jsonrpc":"2.0","id":7,"method":"cellblock/status"})", {usr.get()});
  EXPECT_EQ(host.read_json()["id"], 7);
  host.send(with_workspace);
  expect_refusal();
}

TEST_F(GatewayWorkspace, ClosesWhatCameWithARefusedAttach) {
  Pair pipe = *make_pipe();
  send_with(host.fd(), with_workspace, {pipe.second.get()});
  pipe.second.reset();
  expect_refusal();
  pollfd ended{pipe.first.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, patience_ms), 1);
  EXPECT_NE(ended.revents & POLLHUP, 0);
}

TEST_F(GatewayWorkspace, TellsWhatTheLauncherRefused) {
  const Fd usr = open_directory("/usr");
  send_with(host.fd(), with_workspace, {usr.get()});
  const auto request = expect_request(GatewayRequestKind::start_cell);
  wire::CellEvent event;
  event.kind = wire::CellEventKind::refused;
  event.refusal = wire::StartRefusal::workspace_refused;
  event.request = request.request;
  ASSERT_TRUE(send_record(launcher_.get(), event));
  expect_refusal();
  expect_plain_start();
}

TEST_F(GatewayWorkspace, AsksForTheProbeInsteadOfTheServer) {
  host.send(
      R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"files","probe":true}})");
  const auto request = expect_request(GatewayRequestKind::start_cell);
  EXPECT_EQ(request.program, wire::CellProgram::probe);
}

}  // namespace
}  // namespace cellblock::gateway::testing
