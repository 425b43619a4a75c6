// The prompt of `cellblock inspect`, at a terminal of its own.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "tests/unit/fake_gateway.h"

namespace cellblock::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Prompt {
 public:
  Prompt(const FakeGateway& gateway, const char* era) {
    EXPECT_EQ(::openpty(&terminal_, &far_end_, nullptr, nullptr, nullptr), 0);
    child_ = ::fork();
    if (child_ != 0) return;
    ::login_tty(::dup(far_end_));
    ::setenv("TERM", "dumb", 1);      // NOLINT(concurrency-mt-unsafe): before exec
    ::setenv("HOME", "/nowhere", 1);  // NOLINT(concurrency-mt-unsafe): nobody's .editrc
    ::execl(CELLBLOCK_CLI, CELLBLOCK_CLI, "--socket", gateway.path().c_str(), "inspect", "files",
            "--era", era, nullptr);
    ::_exit(127);
  }
  ~Prompt() {
    ::close(far_end_);
    ::close(terminal_);
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;

  void type(std::string_view keys) const {
    EXPECT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  /// The descriptor that the command has as its standard input, kept as a shell keeps it.
  int terminal_of_shell() const { return far_end_; }

  /// Waits for the end of the command: its wait status.
  int end() {
    int status = -1;
    EXPECT_GT(::waitpid(std::exchange(child_, -1), &status, 0), 0);
    return status;
  }

  /// What came up to this text, which is waited for.
  std::string until(std::string_view text) {
    auto at = screen_.find(text);
    for (; at == std::string::npos && read_more(); at = screen_.find(text)) {
    }
    EXPECT_NE(at, std::string::npos) << "no \"" << text << "\" in: " << screen_;
    const auto end = at == std::string::npos ? screen_.size() : at + text.size();
    auto seen = screen_.substr(0, end);
    screen_.erase(0, end);
    return seen;
  }

 private:
  bool read_more() {
    pollfd ready{.fd = terminal_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 30'000) != 1) return false;
    char bytes[4096];
    const auto count = ::read(terminal_, bytes, sizeof(bytes));
    if (count > 0) screen_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

  int terminal_ = -1;
  int far_end_ = -1;
  pid_t child_ = -1;
  std::string screen_;
};

const std::string question =
    R"({"message":"[server files] Which \u001b[2Jcolour?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string"}}}})";

void greet_modern(FakeConnection& peer) {
  peer.answer(peer.read_line().value_or(""), R"({"server":"files","session":"1","cell":"2"})");
  peer.answer(peer.read_line().value_or(""), R"({"supportedVersions":["2026-07-28"]})");
}

TEST(CliInspectPrompt, AnswersAQuestionOfALegacyServerDuringItsCall) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr("progressToken"));
    peer.send(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":)" + question +
              "}\n");
    EXPECT_THAT(peer.read_line().value_or(""),
                HasSubstr(R"("id":"q","result":{"action":"accept","content":{"colour":"green"}})"));
    peer.answer(call, R"({"content":[{"type":"text","text":"thank you"}]})");
    (void)peer.read_line();
  });
  Prompt prompt(gateway, "legacy");
  prompt.until("files> ");
  prompt.type("call ask\n");
  EXPECT_THAT(prompt.until("ancel: "), Not(HasSubstr("\x1b[2J")));
  prompt.type("a\n");
  prompt.until("colour (string): ");
  prompt.type("green\n");
  prompt.until("thank you");
  prompt.until(" ms)");
  prompt.type("quit\n");
}

TEST(CliInspectPrompt, AnswersAQuestionOfAModernServerWithARetry) {
  FakeGateway gateway([](FakeConnection& peer) {
    greet_modern(peer);
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr(R"(clientCapabilities":{"elicitation":{"form":{},"url":{}}})"));
    peer.answer(
        call,
        R"({"resultType":"input_required","requestState":"s","inputRequests":{"who":{"method":"elicitation/create","params":)" +
            question + "}}}");
    const auto retry = peer.read_line().value_or("");
    EXPECT_THAT(retry, HasSubstr(R"("requestState":"s")"));
    EXPECT_THAT(retry, HasSubstr(R"("inputResponses":{"who":{"action":"decline"}})"));
    peer.answer(retry, R"({"content":[{"type":"text","text":"as you like"}]})");
    (void)peer.read_line();
  });
  Prompt prompt(gateway, "modern");
  prompt.until("files> ");
  prompt.type("call ask\n");
  prompt.until("ancel: ");
  prompt.type("d\n");
  prompt.until("as you like");
  prompt.type("quit\n");
}

TEST(CliInspectPrompt, CancelsTheCallAtCtrlCAndGoesOn) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    const auto call = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}})"
              "\n");
    EXPECT_THAT(peer.read_line().value_or(""), HasSubstr(R"("method":"notifications/cancelled")"));
    peer.answer(peer.read_line().value_or(""), R"({"content":[{"type":"text","text":"again"}]})");
    (void)peer.read_line();
  });
  Prompt prompt(gateway, "legacy");
  prompt.until("files> ");
  prompt.type("call slow\n");
  prompt.until("progress 1");
  prompt.type("\x03");
  prompt.until("cancelled");
  prompt.until("files> ");
  prompt.type("call fast\n");
  prompt.until("again");
  prompt.type("quit\n");
}

TEST(CliInspectPrompt, CompletesTheNamesOfTools) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    peer.answer(peer.read_line().value_or(""), R"({"tools":[{"name":"measure"},{"name":"x"}]})");
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr(R"("name":"measure","arguments":{})"));
    peer.answer(call, R"({"content":[{"type":"text","text":"done"}]})");
    (void)peer.read_line();
  });
  Prompt prompt(gateway, "legacy");
  prompt.until("files> ");
  prompt.type("call me\t\n");
  prompt.until("done");
  prompt.type("quit\n");
}

TEST(CliInspectPrompt, TellsAsItHappensHowTheServerEndedAndEndsWithItsCode) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const auto later = std::to_string(now.count() + 60'000);
  FakeGateway gateway([&](FakeConnection& peer) {
    const auto first = peer.read_line().value_or("");
    if (first.contains("cellblock/attach")) {
      peer.answer(first, R"({"server":"files","session":"1","cell":"2"})");
      peer.answer(peer.read_line().value_or(""), R"({"protocolVersion":"2025-11-25"})");
      (void)peer.read_line();
      return;  // its server crashed: the session is over
    }
    peer.answer(first, R"({"servers":[{"name":"files","cells":[],"last_end":{"at_ms":)" + later +
                           R"(,"verdict":"crash","cause":"killed by SIGSEGV"}}]})");
    (void)peer.read_line();
  });
  Prompt prompt(gateway, "legacy");
  prompt.until("files: killed by SIGSEGV");
  EXPECT_EQ(WEXITSTATUS(prompt.end()), 5);
}

TEST(CliInspectPrompt, LeavesTheTerminalBlockingForItsShell) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    (void)peer.read_line();
  });
  Prompt prompt(gateway, "legacy");
  prompt.until("files> ");
  EXPECT_EQ(::fcntl(prompt.terminal_of_shell(), F_GETFL) & O_NONBLOCK, 0);
  prompt.type("\x04");
  EXPECT_EQ(prompt.end(), 0);
}

}  // namespace
}  // namespace cellblock::testing
