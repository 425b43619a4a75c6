#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

namespace cellblock::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Subprocess::Ended cli(const FakeGateway& gateway, std::vector<std::string> words) {
  std::vector<std::string> all{CELLBLOCK_CLI, "--socket", gateway.path()};
  all.insert(all.end(), words.begin(), words.end());
  return run(std::move(all));
}

// Greets, answers one request with this result, and waits for the end.
FakeGateway::Script after_greeting(std::string result) {
  return [result = std::move(result)](FakeConnection& peer) {
    peer.greet();
    peer.answer(peer.read_line().value_or(""), result);
    (void)peer.read_line();
  };
}

FakeGateway::Script answering(std::string result) {
  return [result = std::move(result)](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), result);
    (void)peer.read_line();
  };
}

TEST(CliTools, ListsNamesWithTheFirstLineOfTheirDescriptions) {
  FakeGateway gateway(after_greeting(
      R"({"tools":[{"name":"read","description":"Reads.\nMore."},{"name":"list_all"}]})"));
  const auto ended = cli(gateway, {"tools", "files"});
  EXPECT_EQ(ended.out, "read      Reads.\nlist_all  \n");
  EXPECT_EQ(ended.exit_code, 0);
}

TEST(CliTools, LetsNoServerWriteEscapesToTheTerminal) {
  FakeGateway gateway(after_greeting(R"({"tools":[{"name":"a","description":"\u001b[2Jgone"}]})"));
  const auto ended = cli(gateway, {"tools", "files"});
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(ended.out, HasSubstr("\\x1b[2Jgone"));
}

TEST(CliTools, PrintsTheArrayAsJson) {
  FakeGateway gateway(after_greeting(R"({"tools":[{"name":"a"},{"name":"b"}]})"));
  EXPECT_EQ(cli(gateway, {"tools", "files", "--json"}).out, R"([{"name":"a"},{"name":"b"}])"
                                                            "\n");
}

TEST(CliTools, SayWhatEachServersListWeighs) {
  constexpr auto tools =
      R"({"tools":[{"name":"a__x"},{"name":"a__y"},{"name":"b__x"},{"name":"cellblock_read_result"}]})";
  FakeGateway human(after_greeting(tools));
  const auto ended = cli(human, {"tools"});
  EXPECT_EQ(ended.out,
            "a__x                   \na__y                   \nb__x                   \n"
            "cellblock_read_result  \n");
  EXPECT_EQ(ended.err,
            "a          2 tools in 30 bytes, about 8 tokens\n"
            "b          1 tool in 15 bytes, about 4 tokens\n"
            "cellblock  1 tool in 32 bytes, about 8 tokens\n"
            "all        4 tools in 77 bytes, about 20 tokens\n");
  FakeGateway machine(after_greeting(tools));
  EXPECT_EQ(cli(machine, {"tools", "--weight", "--json"}).out,
            R"([{"server":"a","tools":2,"bytes":30,"tokens":8},)"
            R"({"server":"b","tools":1,"bytes":15,"tokens":4},)"
            R"({"server":"cellblock","tools":1,"bytes":32,"tokens":8}])"
            "\n");
  FakeGateway one(after_greeting(tools));
  EXPECT_EQ(cli(one, {"tools", "files", "--weight"}).out,
            "files  4 tools in 77 bytes, about 20 tokens\n");
}

constexpr auto with_a_missing_server =
    R"({"tools":[{"name":"a__x"}],"_meta":{"cellblock/unavailable":[{"server":"bad","reason":"cell \"bad\": exited with code 3; last words: \"x\"","brief":"exited with code 3\u001b"}]}})";

TEST(CliTools, SaysOnStderrWhichOfAllServersIsNotListed) {
  FakeGateway gateway(after_greeting(with_a_missing_server));
  const auto ended = cli(gateway, {"tools"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "a__x  \n");
  EXPECT_EQ(ended.err,
            "not listed: bad (exited with code 3\\x1b); \"cellblock status bad\" tells more\n"
            "a  1 tool in 15 bytes, about 4 tokens\n");
}

TEST(CliTools, TakesNoServersWordThatOthersAreMissing) {
  FakeGateway gateway(after_greeting(with_a_missing_server));
  EXPECT_EQ(cli(gateway, {"tools", "a"}).err, "a  1 tool in 15 bytes, about 4 tokens\n");
}

TEST(CliCall, MergesArgumentsAndPrintsText) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr(R"("arguments":{"a":1,"n":3,"path":"/x=y"}})"));
    peer.answer(
        call,
        R"({"content":[{"type":"text","text":"one\ntwo"},{"type":"image","mimeType":"image/png","data":"AAAA"}]})");
    (void)peer.read_line();
  });
  const auto ended =
      cli(gateway, {"call", "files", "t", "--arg", "n=3", "--arg", "path=/x=y", R"({"a":1})"});
  EXPECT_EQ(ended.out, "one\ntwo\n[image image/png, 4 bytes of base64]\n");
  EXPECT_EQ(ended.exit_code, 0);
}

TEST(CliCall, TakesArgumentsAsTheInspectorDoes) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr(R"("arguments":{"a":1,"n":3,"path":"/x"}})"));
    peer.answer(call, R"({"content":[]})");
    (void)peer.read_line();
  });
  const auto ended = cli(gateway, {"call", "files", "t", R"({"a":1})", "n=3", "--arg", "path=/x"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(CliCall, PrintsTheWholeResultAsItCame) {
  const std::string result = R"({ "content":[], "x":1.50 })";
  FakeGateway gateway(after_greeting(result));
  EXPECT_EQ(cli(gateway, {"--json", "call", "files", "t"}).out, result + "\n");
}

TEST(CliCall, ExitsWith3WhenTheToolFailed) {
  FakeGateway gateway(
      after_greeting(R"({"content":[{"type":"text","text":"no"}],"isError":true})"));
  EXPECT_EQ(cli(gateway, {"call", "files", "t"}).exit_code, 3);
}

TEST(CliCall, ExitsWith7WhenNoAnswerComes) {
  FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  const auto ended = cli(gateway, {"call", "files", "t", "--timeout", "20ms"});
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_THAT(ended.err, HasSubstr("--timeout"));
}

TEST(CliErrors, SayThatTheDaemonDoesNotAnswerInPlaceOfAskingForPatience) {
  FakeGateway mute([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  const auto ended = cli(mute, {"call", "files", "t", "--timeout", "6s"});
  EXPECT_EQ(ended.exit_code, 6);
  EXPECT_THAT(ended.err, HasSubstr("cellblockd does not answer at"));
  EXPECT_THAT(ended.err, HasSubstr("systemctl status"));
  EXPECT_THAT(ended.err, Not(HasSubstr("--timeout")));
}

TEST(CliCall, ExitsWith2OnArgumentsThatAreNoObject) {
  FakeGateway gateway(after_greeting("{}"));
  EXPECT_EQ(cli(gateway, {"call", "files", "t", "[1]"}).exit_code, 2);
  EXPECT_EQ(cli(gateway, {"call", "files", "t", "--arg", "novalue"}).exit_code, 2);
  EXPECT_EQ(cli(gateway, {"call", "files"}).exit_code, 2);
}

TEST(CliCall, TakesAToolsNameAmongAllServersInPlaceOfTheServersAndTheTools) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto attach = peer.read_line().value_or("");
    EXPECT_THAT(attach, HasSubstr("cellblock/attach"));
    EXPECT_THAT(attach, Not(HasSubstr(R"("server")")));
    peer.answer(attach, R"({"session":"1"})");
    const auto hello = peer.read_line().value_or("");
    peer.answer(hello, R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{}})");
    (void)peer.read_line();
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr(R"("name":"files__read","arguments":{"a":1,"n":3})"));
    peer.answer(call, R"({"content":[]})");
    (void)peer.read_line();
  });
  const auto ended = cli(gateway, {"call", "files__read", "--arg", "n=3", R"({"a":1})"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(CliCall, ExitsWith2OnMoreWordsThanAToolAmongAllServersTakes) {
  FakeGateway gateway(after_greeting("{}"));
  EXPECT_EQ(cli(gateway, {"call", "files__read", "{}", "{}"}).exit_code, 2);
}

TEST(CliErrors, ShowTheCauseAndTheServersLastLines) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto attach = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","id":)" + FakeConnection::id_of(attach) +
              R"(,"error":{"code":-31003,"message":"files: exited with code 1","data":)"
              R"({"code":"server_failed","stderr":["Error: no such database"]}}})"
              "\n");
    (void)peer.read_line();
  });
  const auto ended = cli(gateway, {"--json", "tools", "files"});
  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_THAT(ended.err, HasSubstr("files: exited with code 1\n  | Error: no such database\n"));
  EXPECT_THAT(ended.out, HasSubstr(R"({"error":{"code":"server_failed")"));
}

TEST(CliErrors, NameTheSocketThatWasTried) {
  const auto ended = run({CELLBLOCK_CLI, "--socket", "/nonexistent/x.sock", "status"});
  EXPECT_EQ(ended.exit_code, 6);
  EXPECT_THAT(ended.err, HasSubstr("/nonexistent/x.sock"));
  EXPECT_THAT(ended.err, HasSubstr("Start cellblockd, or name the socket"));
}

TEST(CliControl, AsksForLogsStopAndRestart) {
  FakeGateway logs(answering(R"({"lines":[{"cell":"3","at_ms":0,"text":"hello"}]})"));
  EXPECT_THAT(cli(logs, {"logs", "files", "-n", "5"}).out,
              HasSubstr(" [MCP:stdio:files] cell 3: hello\n"));
  FakeGateway stop(answering(R"({"stopped":2})"));
  EXPECT_EQ(cli(stop, {"stop", "files"}).out, "files: 2 of your cells are being stopped\n");
  EXPECT_EQ(cli(stop, {"restart", "files", "--json"}).out, "{\"stopped\":2}\n");
}

// Two pages, of which the second says that lines are lost; then the connection ends.
void write_log(FakeConnection& peer) {
  const auto first = peer.read_line().value_or("");
  EXPECT_THAT(first, HasSubstr(R"({"server":"files","lines":3})"));
  peer.answer(first, R"({"lines":[{"cell":"3","at_ms":0,"text":"one"}],"next":1,"missed":0})");
  const auto second = peer.read_line().value_or("");
  EXPECT_THAT(second, HasSubstr(R"("after":1)"));
  peer.answer(second,
              R"({"lines":[{"cell":"3","at_ms":0,"text":"\u001b[2Jtwo"}],"next":7,"missed":5})");
  EXPECT_THAT(peer.read_line().value_or(""), HasSubstr(R"("after":7)"));
}

TEST(CliLogs, AreFollowedUntilTheConnectionEnds) {
  FakeGateway gateway(write_log);
  const auto ended = cli(gateway, {"logs", "files", "-n", "3", "-f"});
  EXPECT_THAT(ended.out, HasSubstr(" [MCP:stdio:files] cell 3: one\n"));
  EXPECT_THAT(ended.out, HasSubstr(" [MCP:stdio:files] cell 3: \\x1b[2Jtwo\n"));
  EXPECT_THAT(ended.err, HasSubstr("5 lines are lost"));
  EXPECT_THAT(ended.err, HasSubstr("closed the connection"));
  EXPECT_EQ(ended.exit_code, 6);
}

TEST(CliLogs, AreFollowedAsLinesOfJson) {
  FakeGateway gateway(write_log);
  const auto ended = cli(gateway, {"--json", "logs", "files", "-n", "3", "-f"});
  EXPECT_THAT(ended.out, ::testing::StartsWith(R"({"cell":"3","at_ms":0,"text":"one"}
{"missed":5}
{"cell":"3","at_ms":0,"text":"\u001b[2Jtwo"}
)"));
  EXPECT_EQ(ended.exit_code, 6);
}

TEST(CliLogs, AreNotFollowedOfAGatewayThatNumbersNoLines) {
  FakeGateway gateway(answering(R"({"lines":[]})"));
  const auto ended = cli(gateway, {"logs", "files", "-f"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cannot be read on from"));
}

TEST(CliLogs, OfRefusalsAreNotFollowed) {
  EXPECT_EQ(run({CELLBLOCK_CLI, "logs", "files", "-f", "--denied"}).exit_code, 2);
}

TEST(CliHelp, IsThereForEveryCommand) {
  for (const auto* command :
       {"connect", "tools", "call", "status", "logs", "check", "stop", "restart", "version"}) {
    const auto ended = run({CELLBLOCK_CLI, command, "--help"});
    EXPECT_EQ(ended.exit_code, 0) << command;
    EXPECT_THAT(ended.out, HasSubstr("Example:")) << command;
  }
}

constexpr std::string_view matrix = R"({"content":[],"structuredContent":{"declared":"network=none",
"attempts":[
{"id":"mount","class":"kernel","meaning":"m","held":true,"result":"held","verdict":"held","errno":"EPERM","detail":"","declared_by":""},
{"id":"tcp","class":"network","meaning":"reaches the \u001b[31mhost","held":false,"result":"open","verdict":"declared","errno":"","detail":"","declared_by":"network = \"host\""},
{"id":"bomb","class":"kernel","meaning":"m","held":false,"result":"not_applicable","verdict":"not_applicable","errno":"","detail":"","declared_by":""}
MORE]}})";

std::string matrix_with(std::string more) {
  std::string text(matrix);
  text.replace(text.find("MORE"), 4, more);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

TEST(CliHelp, SaysThatAHostsLineStandsBehindTheSeparator) {
  EXPECT_THAT(run({CELLBLOCK_CLI, "add", "files", "npx", "-y", "package"}).err,
              HasSubstr("COMMAND stands behind --: cellblock add NAME -- COMMAND"));
  EXPECT_THAT(run({CELLBLOCK_CLI, "run", "npx", "-y", "package"}).err,
              HasSubstr("COMMAND stands behind --: cellblock run -- COMMAND"));
}

TEST(CliProbe, CountsByClassAndShowsWhatIsDeclared) {
  FakeGateway gateway(after_greeting(matrix_with("")));
  const auto ended = cli(gateway, {"probe", "files"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out,
            "declared: network=none\n\n"
            "CLASS     HELD  DECLARED  UNEXPECTED  NOT APPLICABLE\n"
            "kernel       1         -           -               1\n"
            "network      -         1           -               -\n"
            "all          1         1           -               1\n"
            "\nOpen, as declared:\n"
            "  tcp\n    reaches the \\x1b[31mhost\n    declared: network = \"host\"\n");
}

TEST(CliProbe, EndsWithACodeOfItsOwnWhenSomethingUnexpectedIsOpen) {
  FakeGateway gateway(after_greeting(matrix_with(
      R"(,{"id":"core","class":"kernel","meaning":"root","held":false,"result":"open","verdict":"unexpected","errno":"","detail":"","declared_by":""})")));
  const auto ended = cli(gateway, {"probe", "files"});
  EXPECT_EQ(ended.exit_code, 9);
  EXPECT_THAT(ended.out, HasSubstr("though nothing declares it:\n  core\n    root\n"));
  EXPECT_EQ(cli(gateway, {"probe", "files", "--json"}).exit_code, 9);
}

TEST(CliExplainProve, EndsAsTheProbeDoes) {
  FakeGateway gateway(after_greeting(matrix_with("")));
  const auto probed = cli(gateway, {"probe", "files"});
  const auto proved = cli(gateway, {"explain", "files", "--prove"});
  EXPECT_EQ(proved.exit_code, 0) << proved.err;
  EXPECT_THAT(proved.out, ::testing::EndsWith(probed.out));
}

TEST(CliExplain, RefusesAnEmptyWordBeforeAnother) {
  const auto ended = run({CELLBLOCK_CLI, "explain", "", "files", "read"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("USER is empty"));
  EXPECT_THAT(run({CELLBLOCK_CLI, "explain", "alice", "", "read"}).err,
              HasSubstr("SERVER is empty"));
}

TEST(CliExplainProve, IsForAServerAlone) {
  EXPECT_EQ(run({CELLBLOCK_CLI, "explain", "alice", "files", "--prove"}).exit_code, 2);
  EXPECT_EQ(run({CELLBLOCK_CLI, "explain", "files", "--timeout", "3s"}).exit_code, 2);
}

TEST(CliProbe, TakesNoVerdictForAGoodOne) {
  FakeGateway gateway(after_greeting(
      R"({"content":[],"structuredContent":{"attempts":[{"id":"x","class":"c"}]}})"));
  EXPECT_EQ(cli(gateway, {"probe", "files"}).exit_code, 9);
  FakeGateway silent(after_greeting(R"({"content":[],"structuredContent":{"attempts":[]}})"));
  EXPECT_EQ(cli(silent, {"probe", "files"}).exit_code, 1);
}

TEST(CliProbe, AsksForTheProbe) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto attach = peer.read_line().value_or("");
    EXPECT_THAT(attach, HasSubstr(R"("params":{"server":"files","probe":true}})"));
  });
  (void)cli(gateway, {"probe", "files"});
}

TEST(CliWorkspace, GoesAlongWithTheAttach) {
  FakeGateway gateway([](FakeConnection& peer) {
    EXPECT_THAT(peer.read_line().value_or(""), HasSubstr(R"("workspace":true)"));
    EXPECT_EQ(peer.fds.size(), 1U);
  });
  (void)cli(gateway, {"tools", "files", "--workspace", "/usr"});
  (void)cli(gateway, {"call", "files", "t", "--workspace", "/usr"});
}

TEST(CliWorkspace, IsAUsageErrorIfItIsNoDirectory) {
  FakeGateway gateway([](FakeConnection&) {});
  const auto ended = cli(gateway, {"tools", "files", "--workspace", "/etc/passwd"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("cellblock: the workspace /etc/passwd: Not a directory"));
}

TEST(CliWorkspace, IsAUsageErrorWithoutTheServerThatItIsFor) {
  FakeGateway gateway([](FakeConnection&) {});
  for (const std::vector<std::string>& words : {std::vector<std::string>{"tools"},
                                                {"connect"},
                                                {"call", "files__read"},
                                                {"inspect", "--all", "tools"}}) {
    auto all = words;
    all.insert(all.end(), {"--workspace", "/usr"});
    const auto ended = cli(gateway, all);
    EXPECT_EQ(ended.exit_code, 2) << words[0];
    EXPECT_THAT(ended.err, HasSubstr("a workspace goes to one server: name it")) << words[0];
  }
}

TEST(CliWorkspace, IsAUsageErrorIfItIsEmpty) {
  FakeGateway gateway([](FakeConnection&) {});
  for (const auto* command : {"tools", "connect", "probe"}) {
    EXPECT_EQ(cli(gateway, {command, "files", "--workspace", ""}).exit_code, 2) << command;
    EXPECT_EQ(cli(gateway, {command, "files", "--workspace="}).exit_code, 2) << command;
  }
}

FakeGateway::Script refusing(std::string error) {
  return [error = std::move(error)](FakeConnection& peer) {
    const auto id = FakeConnection::id_of(peer.read_line().value_or(""));
    peer.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":)" + error + "}\n");
    (void)peer.read_line();
  };
}

TEST(CliWorkspace, IsNamedAsItResolvesWhenItIsRefused) {
  FakeGateway gateway(
      refusing(R"({"code":-31012,"message":"not this one","data":{"server":"files"}})"));
  const auto ended = cli(gateway, {"tools", "files", "--workspace", "/usr/../usr/share/"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("not this one (asked for: /usr/share)"));
  EXPECT_THAT(ended.err, HasSubstr("\"cellblock status files\" shows which directories"));
}

TEST(CliErrors, SendNobodyInCirclesWhoMayUseNothing) {
  FakeGateway gateway(refusing(R"({"code":-31001,"message":"no","data":{"code":"x"}})"));
  const auto ended = cli(gateway, {"tools", "files"});
  EXPECT_EQ(ended.exit_code, 4);
  // Of root it is the table of the whole machine.
  if (::geteuid() != 0) EXPECT_THAT(ended.err, Not(HasSubstr("cellblock status")));
  EXPECT_THAT(ended.err, HasSubstr(::geteuid() == 0 ? "setpriv --reuid" : "allow.users"));
}

TEST(CliErrors, GuessWhichCommandWasMeant) {
  const auto ended = run({CELLBLOCK_CLI, "stat"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("there is no command \"stat\"; did you mean \"status\"?"));
  EXPECT_THAT(run({CELLBLOCK_CLI, "statsu"}).err, HasSubstr("did you mean \"status\"?"));
}

TEST(CliLogs, SaysWhatIsNotSeenWhenNothingRefusedIsRecorded) {
  FakeGateway gateway(answering(R"({"denied":[]})"));
  const auto ended = cli(gateway, {"logs", "files", "--denied"});
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("Landlock"));
  EXPECT_EQ(ended.exit_code, 0);
}

TEST(CliErrors, TellAServersOwnErrorFromARefusal) {
  const auto answering_call = [](std::string error) {
    return [error = std::move(error)](FakeConnection& peer) {
      peer.greet();
      const auto id = FakeConnection::id_of(peer.read_line().value_or(""));
      peer.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":)" + error + "}\n");
      (void)peer.read_line();
    };
  };
  FakeGateway own(answering_call(R"({"code":-32602,"message":"path must be a string"})"));
  EXPECT_EQ(cli(own, {"call", "files", "t"}).exit_code, 3);
  FakeGateway refused(answering_call(R"({"code":-32602,"message":"Unknown tool: t"})"));
  const auto ended = cli(refused, {"call", "files", "t"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("\"cellblock tools\" lists those that you may call."));
}

TEST(CliErrors, OfAServerAreOneLine) {
  FakeGateway gateway(refusing(R"({"code":-32000,"message":"a\ncellblock: all is well"})"));
  EXPECT_THAT(cli(gateway, {"tools", "files"}).err, HasSubstr("a\\x0acellblock: all is well"));
}

TEST(CliErrors, NameTheProgramWhenTheFlagsAreWrong) {
  const auto ended = run({CELLBLOCK_CLI, "tools", "--nonsense"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, ::testing::StartsWith("cellblock: "));
}

TEST(CliLogs, ShowsDenialsWithWhatWouldAllowThem) {
  FakeGateway gateway(answering(
      R"({"denied":[{"cell":"3","at_ms":0,"what":"mount","reason":"why","allow":"","count":2}]})"));
  const auto ended = cli(gateway, {"logs", "files", "--denied"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr("cell 3  mount (2 times)\n    why\n"));
}

}  // namespace
}  // namespace cellblock::testing
