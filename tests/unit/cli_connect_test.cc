#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <utility>

#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

namespace cellblock::testing {
namespace {

using ::testing::HasSubstr;

constexpr auto initialize = R"({"jsonrpc":"2.0","id":"first","method":"initialize","params":{}})"
                            "\n";

std::vector<std::string> connect_words(const std::string& socket) {
  return {CELLBLOCK_CLI, "--socket", socket, "connect", "files"};
}

std::string read_line_from(int descriptor) {
  std::string line;
  char byte = 0;
  while (::read(descriptor, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

void write_to(int descriptor, const std::string& text) {
  ASSERT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

// Takes the handed descriptors and echoes one line a time over them until the host closes.
void echo_over_handed_stdio(FakeConnection& peer, std::string* attached = nullptr) {
  const auto attach = peer.read_line().value_or("");
  if (attached != nullptr) *attached = attach;
  ASSERT_EQ(peer.fds.size(), 3U) << attach;
  EXPECT_THAT(attach, HasSubstr(R"("stdio":true,"journal":true)"));
  peer.answer(attach, R"({"server":"files","session":"1","cell":"1","stdio":true})");
  for (auto line = read_line_from(peer.fds[0].get()); !line.empty();
       line = read_line_from(peer.fds[0].get())) {
    write_to(peer.fds[1].get(), "handed " + line + "\n");
  }
  peer.send(R"({"jsonrpc":"2.0","method":"cellblock/ended","params":{"reason":"host_closed"}})"
            "\n");
}

class Handover : public ::testing::TestWithParam<Stdio> {};

TEST_P(Handover, GivesTheHostsOwnDescriptorsToTheGateway) {
  FakeGateway gateway([](FakeConnection& peer) { echo_over_handed_stdio(peer); });
  Subprocess bridge(connect_words(gateway.path()), GetParam());
  bridge.write("one\n");
  EXPECT_EQ(bridge.read_line(), "handed one");
  bridge.write("two\n");
  EXPECT_EQ(bridge.read_line(), "handed two");
  EXPECT_EQ(bridge.wait().exit_code, 0);
}

TEST_P(Handover, SurvivesAHostThatProbesFirst) {
  FakeGateway gateway([](FakeConnection& peer) { echo_over_handed_stdio(peer); });
  {
    Subprocess probe(connect_words(gateway.path()), GetParam());
    probe.write("probe\n");
    EXPECT_EQ(probe.read_line(), "handed probe");
    probe.kill(SIGKILL);
    (void)probe.wait();
  }
  Subprocess bridge(connect_words(gateway.path()), GetParam());
  bridge.write("again\n");
  EXPECT_EQ(bridge.read_line(), "handed again");
  EXPECT_EQ(bridge.wait().exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(PipesAndSockets, Handover,
                         ::testing::Values(Stdio::pipes, Stdio::sockets));

constexpr auto shutting_down =
    R"({"jsonrpc":"2.0","method":"cellblock/ended","params":{"reason":"shutting_down","resume":{"v":[1]}}})"
    "\n";

// The first daemon echoes one line and ends; the next one echoes the rest.
class TwoDaemons {
 public:
  void operator()(FakeConnection& peer) {
    if (is_second_.exchange(true)) return echo_over_handed_stdio(peer, &attach_of_second);
    const auto attach = peer.read_line().value_or("");
    peer.answer(attach, R"({"server":"files","session":"1","stdio":true})");
    write_to(peer.fds.at(1).get(), "first " + read_line_from(peer.fds.at(0).get()) + "\n");
    peer.send(shutting_down);
  }

  std::string attach_of_second;  ///< once the gateway is gone

 private:
  std::atomic<bool> is_second_ = false;
};

TEST_P(Handover, GoesOnAtTheNextDaemonWithWhatTheFirstOneGaveIt) {
  TwoDaemons daemons;
  {
    FakeGateway gateway(std::ref(daemons));
    Subprocess bridge(connect_words(gateway.path()), GetParam());
    bridge.write("one\n");
    EXPECT_EQ(bridge.read_line(), "first one");
    bridge.write("two\n");
    EXPECT_EQ(bridge.read_line(), "handed two");
    EXPECT_EQ(bridge.wait().exit_code, 0);
  }
  EXPECT_THAT(daemons.attach_of_second, HasSubstr(R"("resume":{"v":[1]})"));
}

// The first daemon dies before it has read anything; the next one echoes.
TEST(Connect, GoesOnAtTheNextDaemonWhereTheFirstOneDiedWithoutAWord) {
  std::string attach_of_second;
  std::atomic<bool> is_second = false;
  {
    FakeGateway gateway([&](FakeConnection& peer) {
      if (is_second.exchange(true)) return echo_over_handed_stdio(peer, &attach_of_second);
      peer.answer(peer.read_line().value_or(""),
                  R"({"server":"files","session":"1","stdio":true,"journal":true})");
    });
    Subprocess bridge(connect_words(gateway.path()));
    bridge.write("two\n");
    EXPECT_EQ(bridge.read_line(), "handed two");
    EXPECT_EQ(bridge.wait().exit_code, 0);
  }
  EXPECT_THAT(attach_of_second, HasSubstr(R"("resume":{"memory":null,"unread":""})"));
}

TEST(Connect, EndsWithADaemonThatDiesAndHasWrittenNoJournal) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"session":"1","stdio":true})");
  });
  Subprocess bridge(connect_words(gateway.path()));
  EXPECT_EQ(bridge.read_line(), "");  // its end: its host is still there
  EXPECT_NE(bridge.wait().exit_code, 0);
}

TEST(Connect, EndsWithItsHostWhileNoDaemonComesBack) {
  std::atomic<bool> has_ended = false;
  auto gateway = std::make_unique<FakeGateway>([&](FakeConnection& peer) {
    if (has_ended.exchange(true)) return;
    peer.answer(peer.read_line().value_or(""), R"({"session":"1","stdio":true})");
    write_to(peer.fds.at(1).get(), read_line_from(peer.fds.at(0).get()) + "\n");
    peer.send(shutting_down);
  });
  Subprocess bridge(connect_words(gateway->path()));
  bridge.write("one\n");
  EXPECT_EQ(bridge.read_line(), "one");
  gateway.reset();
  EXPECT_EQ(bridge.wait().exit_code, 0);
}

TEST(Connect, CopiesWhenTheGatewayCannotTakeTheDescriptors) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"session":"1","stdio":false})");
    peer.fds.clear();
    while (auto line = peer.read_line()) peer.send("copied " + *line + "\n");
  });
  Subprocess bridge(connect_words(gateway.path()));
  bridge.write("one\n");
  EXPECT_EQ(bridge.read_line(), "copied one");
  EXPECT_EQ(bridge.wait().exit_code, 0);
}

TEST(Connect, CopiesLargeMessagesWhole) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"session":"1","stdio":false})");
    const auto line = peer.read_line().value_or("");
    peer.send(std::string(2U << 20, 'x') + "\n");
    (void)peer.read_line();
  });
  Subprocess bridge(connect_words(gateway.path()));
  bridge.write("go\n");
  EXPECT_EQ(bridge.read_line().size(), 2U << 20);
}

TEST(Connect, AnswersTheFirstRequestWhenThereIsNoDaemon) {
  Subprocess bridge(connect_words("/nonexistent/cellblock.sock"));
  bridge.write(R"({"jsonrpc":"2.0","method":"notifications/x"})"
               "\n");
  bridge.write(initialize);
  const auto ended = bridge.wait();
  EXPECT_EQ(ended.exit_code, 6);
  EXPECT_THAT(ended.out, HasSubstr(R"("id":"first","error":{"code":-32603,"message":"socket )"));
  EXPECT_THAT(ended.err, HasSubstr("Start cellblockd, or name the socket"));
}

TEST(Connect, AnswersTheFirstRequestWhenTheDaemonTurnsItAway) {
  FakeGateway gateway([](FakeConnection& peer) {
    (void)peer.read_line();
    peer.send(R"({"jsonrpc":"2.0","error":{"code":-31006,"message":"Too many connections."}})"
              "\n");
  });
  Subprocess bridge(connect_words(gateway.path()));
  bridge.write(initialize);
  const auto ended = bridge.wait();
  EXPECT_EQ(ended.exit_code, 8);
  EXPECT_THAT(ended.out, HasSubstr(R"("id":"first","error":{"code":-31006)"));
}

TEST(Connect, LeavesTheAnswerToAGatewayThatTookTheDescriptors) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto attach = peer.read_line().value_or("");
    const std::string error = R"(,"error":{"code":-31003,"message":"exited with code 1"}})"
                              "\n";
    peer.send(R"({"jsonrpc":"2.0","id":1)" + error);
    (void)read_line_from(peer.fds.at(0).get());
    write_to(peer.fds.at(1).get(), R"({"jsonrpc":"2.0","id":"first")" + error);
  });
  Subprocess bridge(connect_words(gateway.path()));
  bridge.write(initialize);
  const auto ended = bridge.wait();
  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_EQ(
      ended.out,
      R"({"jsonrpc":"2.0","id":"first","error":{"code":-31003,"message":"exited with code 1"}})"
      "\n");
}

TEST(Connect, TellsHowTheServerFailed) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"session":"1","stdio":true})");
    peer.send(
        R"({"jsonrpc":"2.0","method":"cellblock/ended","params":{"reason":"server_failed",)"
        R"("failure":{"code":"server_failed","cause":"killed by signal 9","stderr":["oops"]}}})"
        "\n");
  });
  Subprocess bridge(connect_words(gateway.path()));
  const auto ended = bridge.wait();
  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_THAT(ended.err, HasSubstr("files: killed by signal 9\n  | oops\n"));
}

TEST(Connect, LeavesWhenTheHostIsGoneThoughTheGatewaySaysNothing) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"session":"1","stdio":true})");
    (void)peer.read_line();
  });
  Subprocess bridge(connect_words(gateway.path()));
  bridge.close_input();
  bridge.close_output();
  EXPECT_EQ(bridge.wait().exit_code, 0);
}

TEST_P(Handover, PassesAnAnswerThatComesAfterTheEndOfInput) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto attach = peer.read_line().value_or("");
    ASSERT_EQ(peer.fds.size(), 3U) << attach;
    peer.answer(attach, R"({"server":"files","session":"1","cell":"1","stdio":true})");
    EXPECT_EQ(read_line_from(peer.fds[0].get()), "one");
    EXPECT_EQ(read_line_from(peer.fds[0].get()), "");
    write_to(peer.fds[1].get(), "late\n");
    peer.send(R"({"jsonrpc":"2.0","method":"cellblock/ended","params":{"reason":"host_closed"}})"
              "\n");
  });
  Subprocess bridge(connect_words(gateway.path()), GetParam());
  bridge.write("one\n");
  const auto ended = bridge.wait();
  EXPECT_EQ(ended.out, "late\n");
  EXPECT_EQ(ended.exit_code, 0);
}

TEST(Connect, JustLeavesOnSigterm) {
  FakeGateway gateway([](FakeConnection& peer) { echo_over_handed_stdio(peer); });
  Subprocess bridge(connect_words(gateway.path()));
  bridge.write("one\n");
  EXPECT_EQ(bridge.read_line(), "handed one");
  bridge.kill(SIGTERM);
  EXPECT_EQ(bridge.wait().signal, SIGTERM);
}

TEST(Connect, HandsTheWorkspaceOverAsTheLastDescriptor) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto attach = peer.read_line().value_or("");
    EXPECT_THAT(attach, HasSubstr(R"("stdio":true,"journal":true,"workspace":true)"));
    ASSERT_EQ(peer.fds.size(), 4U);
    struct stat status{};
    ASSERT_EQ(::fstat(peer.fds[3].get(), &status), 0);
    EXPECT_TRUE(S_ISDIR(status.st_mode));
    EXPECT_NE(::fcntl(peer.fds[3].get(), F_GETFL) & O_PATH, 0);
  });
  auto words = connect_words(gateway.path());
  words.insert(words.end(), {"--workspace", "/usr"});
  Subprocess bridge(words, Stdio::pipes);
  (void)bridge.wait();
}

TEST(Connect, TellsTheHostOfAWorkspaceThatIsNone) {
  FakeGateway gateway([](FakeConnection&) {});
  auto words = connect_words(gateway.path());
  words.insert(words.end(), {"--workspace", "/nowhere"});
  Subprocess bridge(words, Stdio::pipes);
  bridge.write(initialize);
  EXPECT_THAT(bridge.read_line(), HasSubstr("the workspace /nowhere: No such file or directory"));
  EXPECT_EQ(bridge.wait().exit_code, 2);
}

}  // namespace
}  // namespace cellblock::testing
