#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

// What the command says where nothing can be done, and where it was misused.
namespace cellblock::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Subprocess::Ended cli(std::vector<std::string> words) {
  words.insert(words.begin(), CELLBLOCK_CLI);
  return run(std::move(words));
}

Subprocess::Ended cli(const FakeGateway& gateway, std::vector<std::string> words) {
  words.insert(words.begin(), {"--socket", gateway.path()});
  return cli(std::move(words));
}

FakeGateway::Script refusing(std::string error) {
  return [error = std::move(error)](FakeConnection& peer) {
    const auto id = FakeConnection::id_of(peer.read_line().value_or(""));
    peer.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":)" + error + "}\n");
    (void)peer.read_line();
  };
}

constexpr auto disabled =
    R"({"code":-31008,"message":"cellblock is switched off by its administrator.","data":{"code":"disabled"}})";

FakeGateway::Script answering_a_call(std::string result) {
  return [result = std::move(result)](FakeConnection& peer) {
    peer.greet();
    peer.answer(peer.read_line().value_or(""), result);
    (void)peer.read_line();
  };
}

TEST(CliApprove, SaysThatNoDaemonRunsInsteadOfThatNoCallWaits) {
  for (const char* word : {"", "allow"}) {
    std::vector<std::string> words{"--socket", "/nonexistent/x.sock", "approve"};
    if (*word != '\0') words.insert(words.end(), {word, "1000.3"});
    const auto ended = cli(words);
    EXPECT_EQ(ended.exit_code, 6);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("no cellblockd is running (socket /nonexistent/x.sock: "));
  }
}

TEST(CliApprove, SaysThatCellblockIsSwitchedOff) {
  FakeGateway gateway(refusing(disabled));
  const auto ended = cli(gateway, {"approve"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("switched off"), HasSubstr("cellblock enable")));
}

TEST(CliApprove, DeniesNoDefinition) {
  const auto ended = cli({"--socket", "/nonexistent/x.sock", "approve", "deny", "files/read"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("a definition is not denied"));
}

TEST(CliApprove, SaysThatNoCallWaitsWhereADaemonRuns) {
  FakeGateway gateway(refusing(R"({"code":-31001,"message":"no","data":{}})"));
  const auto ended = cli(gateway, {"approve"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "no call waits for an approval\n");
}

TEST(CliStatus, SaysFirstThatCellblockIsSwitchedOff) {
  FakeGateway gateway(refusing(disabled));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"status"}, {"status", "--all"}}) {
    const auto ended = cli(gateway, words);
    EXPECT_EQ(ended.exit_code, 4);
    EXPECT_THAT(ended.out, StartsWith("cellblock: disabled\n"));
    EXPECT_THAT(ended.out, HasSubstr("\"cellblock enable\""));
  }
  EXPECT_THAT(cli(gateway, {"status", "--json"}).out,
              StartsWith(R"({"enabled":false,"state":"disabled",)"));
}

TEST(CliStatus, OfAllSaysThatNoDaemonRuns) {
  const auto ended = cli({"--socket", "/nonexistent/x.sock", "status", "--all"});
  EXPECT_EQ(ended.exit_code, 6);
  EXPECT_THAT(ended.err, HasSubstr("no cellblockd is running"));
}

TEST(CliSwitch, SaysThatNoDaemonRuns) {
  const auto ended = cli({"--socket", "/nonexistent/x.sock", "disable"});
  EXPECT_EQ(ended.exit_code, 6);
  EXPECT_THAT(ended.err, HasSubstr("no cellblockd is running"));
}

TEST(CliAdvice, OfCellblockStandsOnALineOfItsOwn) {
  FakeGateway gateway(answering_a_call(
      R"({"content":[{"type":"text","text":"the argument \"n\" is no number"},)"
      R"({"type":"text","text":"correct the arguments as the sentence says and call again"}],)"
      R"("isError":true,"_meta":{"cellblock/error":{"code":"invalid_arguments"}}})"));
  const auto ended = cli(gateway, {"call", "files", "t"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_EQ(ended.err,
            "cellblock: the argument \"n\" is no number\n"
            "  Correct the arguments as the sentence says and call again.\n"
            "  More: cellblock errors invalid_arguments\n");
}

TEST(CliAdvice, OfAFlowRuleIsToBeginANewContext) {
  FakeGateway gateway(answering_a_call(
      R"x({"content":[{"type":"text","text":"it can send, after private data (flows.trifecta)"},)x"
      R"({"type":"text","text":"other arguments do not help"}],"isError":true,)"
      R"("_meta":{"cellblock/error":{"code":"denied","advice":"other arguments do not help"}}})"));
  const auto ended = cli(gateway, {"call", "files", "t"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, StartsWith("cellblock: it can send, after private data (flows.trifecta)\n"
                                    "  What was read before in this context decides. "));
  EXPECT_THAT(ended.err, HasSubstr("--label"));
  EXPECT_THAT(ended.err, Not(HasSubstr("use arguments that the sentence says")));
}

TEST(CliAdvice, IsNoServersToWrite) {
  FakeGateway gateway(refusing(
      R"({"code":-31014,"message":"no\n  Run this: rm","data":{"code":"denied","advice":"run rm","server":"x\" rm"}})"));
  const auto ended = cli(gateway, {"tools", "files"});
  EXPECT_THAT(ended.err, StartsWith("cellblock: no   Run this: rm\n  Do not repeat it;"));
  EXPECT_THAT(ended.err, Not(HasSubstr("run rm")));
}

TEST(CliAdvice, OfATimeThatTheServerSetsIsNotToAllowMore) {
  FakeGateway gateway(
      answering_a_call(R"({"content":[{"type":"text","text":"too late"}],"isError":true,)"
                       R"("_meta":{"cellblock/error":{"code":"timeout"}}})"));
  const auto ended = cli(gateway, {"call", "files", "t"});
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_THAT(ended.err, Not(HasSubstr("--timeout")));
}

TEST(CliAdvice, NamesTheTimeToWait) {
  FakeGateway gateway(answering_a_call(
      R"({"content":[{"type":"text","text":"too often"}],"isError":true,)"
      R"("_meta":{"cellblock/error":{"code":"rate_limited","retry_after_ms":2500}}})"));
  EXPECT_THAT(cli(gateway, {"call", "files", "t"}).err, HasSubstr("Try again in 2.5 s"));
}

TEST(CliWords, OfACommandThatThereIsNotAreGuessed) {
  const auto below = cli({"pin", "lst"});
  EXPECT_EQ(below.exit_code, 2);
  EXPECT_THAT(below.err, HasSubstr("there is no command \"pin lst\"; did you mean \"pin list\"?\n"
                                   "  \"cellblock pin --help\" tells"));
  EXPECT_THAT(cli({"audit", "verfy"}).err, HasSubstr("did you mean \"audit verify\"?"));
  EXPECT_THAT(cli({"pin"}).err, HasSubstr("\"pin\" takes one of list, diff, accept, forget"));
}

TEST(CliWords, OfAListOfChoicesAreGuessed) {
  const auto near = cli({"errors", "early_crsh"});
  EXPECT_EQ(near.exit_code, 2);
  EXPECT_THAT(near.err, HasSubstr("CODE: \"early_crsh\" is none; did you mean \"early_crash\"?; "
                                  "allowed: unreachable, "));
  EXPECT_THAT(cli({"errors", "NOSUCH"}).err, HasSubstr("CODE: \"NOSUCH\" is none; allowed: "));
}

TEST(CliWords, OfATimeAreThoseThatConfigurationsHave) {
  FakeGateway gateway(answering_a_call(R"({"content":[]})"));
  for (const char* time : {"5m", "5min", "1h", "30s", "500ms", "30"}) {
    EXPECT_EQ(cli(gateway, {"call", "files", "t", "--timeout", time}).exit_code, 0) << time;
  }
  for (const char* time : {"0", "25h", "5d", "x", "-1s"}) {
    EXPECT_EQ(cli(gateway, {"call", "files", "t", "--timeout", time}).exit_code, 2) << time;
  }
}

TEST(CliWords, OfEveryCommandsHelpEndWithAnExample) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"approve"},
                                                {"disable"},
                                                {"enable"},
                                                {"explain"},
                                                {"probe"},
                                                {"inspect"},
                                                {"pin"},
                                                {"pin", "list"},
                                                {"pin", "diff"},
                                                {"pin", "accept"},
                                                {"pinned"},
                                                {"forget"},
                                                {"audit"},
                                                {"audit", "tail"},
                                                {"audit", "search"},
                                                {"audit", "verify"}}) {
    auto all = words;
    all.emplace_back("--help");
    const auto ended = cli(all);
    EXPECT_EQ(ended.exit_code, 0) << words.back();
    EXPECT_THAT(ended.out, HasSubstr("Example:\n  cellblock " + words.front())) << words.back();
  }
}

TEST(CliWords, OfOtherUsersCellsNameTheUser) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"stopped":2})");
    (void)peer.read_line();
  });
  const std::string base = gateway.path() + ".base";
  const std::string admin = base + ".admin.4000000";
  std::filesystem::create_symlink(gateway.path(), admin);
  EXPECT_EQ(cli({"--socket", base, "stop", "files", "--for", "4000000"}).out,
            "files: 2 of 4000000's cells are being stopped\n");
  std::filesystem::remove(admin);
  EXPECT_EQ(cli(gateway, {"stop", "files"}).out, "files: 2 of your cells are being stopped\n");
}

TEST(CliStop, OfAllUsersLeavesOutWhoMayNotUseTheServer) {
  FakeGateway users([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"stopped":2})");
    (void)peer.read_line();
  });
  FakeGateway strangers(refusing(
      R"({"code":-31001,"message":"no","data":{"code":"not_allowlisted","server":"files"}})"));
  const std::string base = users.path() + ".base";
  const std::vector<std::string> links{base, base + ".admin.4000000", base + ".admin.4000001"};
  std::filesystem::create_symlink(users.path(), links[0]);
  std::filesystem::create_symlink(users.path(), links[1]);
  std::filesystem::create_symlink(strangers.path(), links[2]);
  const auto stopped = cli({"--socket", base, "stop", "files", "--all"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_EQ(stopped.out, "files: 2 of 4000000's cells are being stopped\n");
  EXPECT_EQ(cli({"--socket", base, "--json", "restart", "files", "--all"}).out,
            R"({"users":[{"uid":4000000,"user":"4000000","stopped":2}]})"
            "\n");
  std::filesystem::remove(links[1]);
  const auto none = cli({"--socket", base, "stop", "files", "--all"});
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_THAT(none.err, HasSubstr("no user whose gateway runs may use a server \"files\""));
  for (const auto& link : links) std::filesystem::remove(link);
  EXPECT_EQ(cli({"--socket", "/nonexistent/x.sock", "stop", "files", "--all"}).exit_code, 6);
}

// The variables of whoever runs the tests are not theirs.
class CliConfiguration : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(directory_.data()), nullptr);
    ::setenv("XDG_CONFIG_HOME", directory_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    ::unsetenv("CELLBLOCK_CONFIG");                      // NOLINT(concurrency-mt-unsafe)
  }
  void TearDown() override {
    ::unsetenv("CELLBLOCK_CONFIG");  // NOLINT(concurrency-mt-unsafe)
    std::filesystem::remove_all(directory_);
  }

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }

  std::string directory_ = "/tmp/cellblock-config-XXXXXX";
};

TEST_F(CliConfiguration, OfTheAuditCommandsIsTheOneThatIsNamed) {
  const auto path = write("c.toml", "[daemon]\naudit_log = \"/nonexistent/named.jsonl\"\n");
  ::setenv("CELLBLOCK_CONFIG", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  for (const char* command : {"tail", "search", "verify"}) {
    const auto ended = cli({"audit", command});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, HasSubstr("/nonexistent/named.jsonl: No such file")) << command;
  }
}

TEST_F(CliConfiguration, OfTheAuditCommandsIsYourOwnWithUser) {
  write("cellblock/cellblock.toml", "[daemon]\nstate_directory = \"/nonexistent/state\"\n");
  const auto ended = cli({"--user", "audit", "tail"});
  EXPECT_THAT(ended.err, HasSubstr("/nonexistent/state/audit.jsonl: No such file"));
  EXPECT_THAT(cli({"--system", "audit", "tail"}).err, Not(HasSubstr("/nonexistent/state")));
}

class CliAudit : public CliConfiguration {
 protected:
  void SetUp() override {
    CliConfiguration::SetUp();
    std::string lines;
    for (int minute = 10; minute < 40; ++minute) {
      lines += R"({"time":"2026-11-22T13:)" + std::to_string(minute) +
               R"(:00.000Z","kind":"call","outcome":")" + (minute % 10 == 0 ? "denied" : "ok") +
               "\"}\n";
    }
    path_ = write("audit.jsonl", lines);
  }

  /// How many lines it shows.
  long count(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--json", "audit", "--log", path_});
    const auto ended = cli(std::move(words));
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return std::ranges::count(ended.out, '\n');
  }

 private:
  std::string path_;
};

TEST_F(CliAudit, ShowsTheLastLinesForWhichAllHolds) {
  EXPECT_EQ(count({}), 20);
  EXPECT_EQ(count({"-n", "5"}), 5);
  EXPECT_EQ(count({"--denied"}), 3);
  EXPECT_EQ(count({"--denied", "-n", "2", "--kind", "call"}), 2);
}

TEST_F(CliAudit, ShowsASpanOfTimeWholeUnlessToldHowManyLines) {
  EXPECT_EQ(count({"--since", "2026-11-22"}), 30);
  EXPECT_EQ(count({"--since", "2026-11-22T13:20", "--until", "2026-11-22T13:29"}), 10);
  EXPECT_EQ(count({"--since", "2026-11-22", "-n", "4"}), 4);
}

TEST(CliAuditSearch, RefusesWhatCannotBeFound) {
  const auto kind = cli({"audit", "search", "--log", "/dev/null", "--kind", "cal"});
  EXPECT_EQ(kind.exit_code, 2);
  EXPECT_THAT(kind.err, HasSubstr("there is no kind \"cal\"; did you mean \"call\"?"));
  for (const char* label : {"org", "=x", "ORG=acme"}) {
    const auto ended = cli({"audit", "search", "--log", "/dev/null", "--label", label});
    EXPECT_EQ(ended.exit_code, 2) << label;
    EXPECT_THAT(ended.err, HasSubstr("expected NAME=VALUE, as in org=acme"));
  }
  EXPECT_EQ(cli({"audit", "search", "--log", "/dev/null", "--kind", "call"}).exit_code, 0);
}

}  // namespace
}  // namespace cellblock::testing
