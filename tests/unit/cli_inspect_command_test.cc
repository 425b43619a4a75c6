#include <gmock/gmock.h>

#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

namespace cellblock::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Subprocess::Ended inspect(const FakeGateway& gateway, std::vector<std::string> words) {
  std::vector<std::string> all{CELLBLOCK_CLI, "--socket", gateway.path(), "inspect"};
  all.insert(all.end(), words.begin(), words.end());
  return run(std::move(all));
}

FakeGateway::Script answering(std::vector<std::string> results) {
  return [results = std::move(results)](FakeConnection& peer) {
    peer.greet();
    for (const auto& result : results) peer.answer(peer.read_line().value_or(""), result);
    (void)peer.read_line();
  };
}

TEST(CliInspect, ListsAllPagesAsOneArray) {
  FakeGateway gateway(answering(
      {R"({"prompts":[{"name":"a"}],"nextCursor":"x"})", R"({"prompts":[{"name":"b"}]})"}));
  const auto ended = inspect(gateway, {"files", "prompts", "--json"});
  EXPECT_EQ(ended.out, R"([{"name":"a"},{"name":"b"}])"
                       "\n");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(CliInspect, PrintsAResultAsItCame) {
  const std::string result = R"({ "contents":[], "x":1.50 })";
  FakeGateway gateway(answering({result}));
  EXPECT_EQ(inspect(gateway, {"files", "read", "a://b", "--json"}).out, result + "\n");
}

TEST(CliInspect, ShowsFramesOfBothDirectionsOnStderr) {
  FakeGateway gateway(answering({R"({"contents":[{"uri":"a","text":"\u001b[2J"}]})"}));
  const auto ended = inspect(gateway, {"files", "read", "a://b", "--frames", "--timings"});
  EXPECT_EQ(ended.out, "\\x1b[2J\n");
  EXPECT_THAT(ended.err, HasSubstr("→"));
  EXPECT_THAT(ended.err, HasSubstr(R"("method":"resources/read","params":{"uri":"a://b"}})"));
  EXPECT_THAT(ended.err, HasSubstr("←"));
  EXPECT_THAT(ended.err, HasSubstr("command "));
}

TEST(CliInspect, SpeaksTheModernEraWhenItIsToldTo) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"server":"files","session":"1","cell":"2"})");
    const auto hello = peer.read_line().value_or("");
    EXPECT_THAT(hello, HasSubstr(R"("method":"server/discover")"));
    EXPECT_THAT(hello, HasSubstr(R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")"));
    peer.answer(hello, R"({"resultType":"complete","supportedVersions":["2026-07-28"]})");
    const auto call = peer.read_line().value_or("");
    EXPECT_THAT(call, HasSubstr(R"("io.modelcontextprotocol/clientCapabilities":{})"));
    peer.answer(call, R"({"resultType":"complete","content":[{"type":"text","text":"hi"}]})");
    (void)peer.read_line();
  });
  const auto ended = inspect(gateway, {"files", "call", "t", "--era", "modern"});
  EXPECT_EQ(ended.out, "hi\n") << ended.err;
}

TEST(CliInspect, ExitsWith3WhereTheServerAsksAndNobodyIsThere) {
  FakeGateway gateway(answering(
      {R"({"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}})"}));
  const auto ended = inspect(gateway, {"files", "call", "t"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("asks for input"));
}

TEST(CliInspect, AsksAgainWithTheStateWhereTheServerOnlyWantsMoreTime) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    peer.answer(peer.read_line().value_or(""),
                R"({"resultType":"input_required","requestState":"s1"})");
    const auto again = peer.read_line().value_or("");
    EXPECT_THAT(again, HasSubstr(R"("requestState":"s1")"));
    peer.answer(again, R"({"content":[{"type":"text","text":"done"}]})");
    (void)peer.read_line();
  });
  EXPECT_EQ(inspect(gateway, {"files", "call", "t"}).out, "done\n");
}

TEST(CliInspect, HasTheExitCodesOfTheOtherCommands) {
  FakeGateway failing(answering({R"({"content":[{"type":"text","text":"no"}],"isError":true})"}));
  EXPECT_EQ(inspect(failing, {"files", "call", "t"}).exit_code, 3);
  FakeGateway empty(answering({R"({"tools":[]})"}));
  EXPECT_EQ(inspect(empty, {"files", "describe", "tool", "t"}).exit_code, 4);
  EXPECT_EQ(inspect(empty, {"files", "describe", "t"}).exit_code, 2);
  EXPECT_EQ(inspect(empty, {"files"}).exit_code, 2);
  EXPECT_EQ(inspect(empty, {"files", "tools", "--era", "old"}).exit_code, 2);
}

TEST(CliInspect, GuessesThatACommandWasMeantWhereThereIsNoSuchServer) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto id = FakeConnection::id_of(peer.read_line().value_or(""));
    peer.send(R"({"jsonrpc":"2.0","id":)" + id +
              R"(,"error":{"code":-31001,"message":"no","data":{"code":"not_allowlisted"}}})"
              "\n");
    (void)peer.read_line();
  });
  EXPECT_THAT(inspect(gateway, {"tools"}).err,
              HasSubstr("did you mean \"cellblock inspect --all tools\"?"));
  EXPECT_THAT(inspect(gateway, {"read", "info"}).err,
              HasSubstr("did you mean \"cellblock inspect --all read\"?"));
}

TEST(CliInspect, TellsWhichEraKnowsARequest) {
  FakeGateway gateway([](FakeConnection& peer) {
    peer.greet();
    const auto id = FakeConnection::id_of(peer.read_line().value_or(""));
    peer.send(R"({"jsonrpc":"2.0","id":)" + id +
              R"(,"error":{"code":-32601,"message":"Method not found"}})"
              "\n");
    (void)peer.read_line();
  });
  EXPECT_THAT(inspect(gateway, {"files", "raw", "server/discover"}).err,
              HasSubstr("this is a request of 2026-07-28: --era modern"));
}

TEST(CliInspect, SpeaksWithAllServersWithoutAName) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto attach = peer.read_line().value_or("");
    EXPECT_THAT(attach, Not(HasSubstr(R"("server":)")));
    peer.answer(attach, R"({"session":"1"})");
    peer.answer(peer.read_line().value_or(""), R"({"protocolVersion":"2025-11-25"})");
    (void)peer.read_line();
    peer.answer(
        peer.read_line().value_or(""),
        R"({"tools":[{"name":"a__b"}],"_meta":{"cellblock/unavailable":[{"server":"c","brief":"no"}]}})");
    (void)peer.read_line();
  });
  const auto ended = inspect(gateway, {"--all", "tools"});
  EXPECT_EQ(ended.out, "a__b  \n") << ended.err;
  EXPECT_EQ(ended.err, "not listed: c (no); \"cellblock status c\" tells more\n");
}

}  // namespace
}  // namespace cellblock::testing
