#include <gmock/gmock.h>

#include <string>

#include "tests/unit/session_rig.h"

// The edges of what a session's machines hand on: lines that grew, and hosts that stop talking.

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string modern(std::string_view id, std::string_view method, std::string_view more = "") {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) +
         R"(","params":{)" + std::string(more) +
         R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
}

class LegEndsTest : public SessionTest {
 protected:
  void attach_on_demand() { attach(R"(,"start":"on_demand")"); }
  void server_shakes_hands() {
    server_answers(
        R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}})");
  }
  void call_over_a_bridge(std::string_view arguments) {
    config_.servers[0].era = ServerEra::legacy;
    attach_on_demand();
    host_says(modern("7", "tools/call",
                     R"("name":"read_a","arguments":)" + std::string(arguments) + ","));
    cell_runs();
    server_shakes_hands();
  }
};

TEST_F(LegEndsTest, AnAnswerThatABridgeMadeTooLongIsAFailedCall) {
  call_over_a_bridge("{}");
  const std::string fits(1'890, 'x');  // but not with what the modern era says besides
  server_answers(R"({"content":[],"structuredContent":{"n":")" + fits + R"("}})");
  const Json said = effects_.last_to_host();
  EXPECT_EQ(said["id"], 7);
  EXPECT_TRUE(said["result"]["isError"].get<bool>()) << said;
  EXPECT_EQ(said["result"]["resultType"], "complete");
  EXPECT_THAT(said.dump(), HasSubstr("lines.to_host allows 2000"));
  EXPECT_LT(effects_.host.back().size(), 2000U);
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::refused, AuditOutcome::denied)));
}

// What the modern era says besides is not in what the host wrote.
TEST_F(LegEndsTest, ARequestThatABridgeMadeTooLongNeverReachesTheServer) {
  config_.servers[0].era = ServerEra::modern;
  attach_on_demand();
  host_says(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{},"clientInfo":{"name":"h","version":"1"}}})");
  cell_runs();
  server_answers(
      R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"})");
  host_says(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_a",)"
            R"("arguments":{"n":")" +
            std::string(1'880, 'x') + R"("}}})");
  const Json said = effects_.last_to_host();
  EXPECT_EQ(said["id"], 7);
  EXPECT_TRUE(said["result"]["isError"].get<bool>()) << said;
  EXPECT_THAT(effects_.cell.back(), Not(HasSubstr("tools/call")));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::refused, AuditOutcome::denied)));
}

// In the modern era an answer lies two levels deeper than by itself.
TEST_F(LegEndsTest, AnAnswerThatABridgeNestsTooDeeplyFailsItsCall) {
  config_.servers[0].era = ServerEra::modern;
  config_.servers[0].client_features.elicitation = true;
  attach_on_demand();
  host_says(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{"elicitation":{}},"clientInfo":{"name":"h","version":"1"}}})");
  cell_runs();
  server_answers(
      R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"})");
  host_says(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_a"}})");
  server_answers(
      R"({"resultType":"input_required","requestState":"s","inputRequests":{"q":{)"
      R"("method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}}})");
  const Json question = effects_.last_to_host();
  ASSERT_EQ(question["method"], "elicitation/create") << question;
  const std::string deep = std::string(61, '[') + std::string(61, ']');
  host_says(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() +
            R"(,"result":{"action":"accept","content":)" + deep + "}}");
  const Json said = effects_.last_to_host();
  EXPECT_EQ(said["id"], 7) << said;
  EXPECT_TRUE(said["result"]["isError"].get<bool>()) << said;
  EXPECT_THAT(said.dump(), HasSubstr("nested too deeply"));
}

// A session whose server is lost is over, also for what was asked in the other era or of nobody
// yet.
TEST_F(LegEndsTest, ALostServerAnswersWhatWaitedForSomethingElse) {
  attach_and_run();
  host_says(modern("5", "server/discover"));
  EXPECT_THAT(effects_.host, IsEmpty());
  cell().ended({}, now_);
  EXPECT_EQ(effects_.last_to_host()["id"], 5);
  EXPECT_TRUE(effects_.last_to_host().contains("error")) << effects_.last_to_host();
}

TEST_F(LegEndsTest, OfToolsThatNobodyMaySeeNoChangeIsTold) {
  config_.servers[0].rules[0].tools.clear();
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  cell_says(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  EXPECT_THAT(effects_.host, IsEmpty());
  cell_says(R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed"})");
  EXPECT_EQ(effects_.last_to_host()["method"], "notifications/prompts/list_changed");
}

// The name of the server is put before the question.
TEST_F(LegEndsTest, AQuestionThatItsServersNameMadeTooLongIsRefusedToTheServer) {
  config_.servers[0].client_features.elicitation = true;
  attach_and_run();
  const std::string head =
      R"({"jsonrpc":"2.0","id":"s","method":"elicitation/create","params":{"message":")";
  cell_says(head + std::string(2000 - head.size() - 3, 'x') + R"("}})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(effects_.last_to_cell()["id"], "s");
  EXPECT_EQ(effects_.last_to_cell()["error"]["code"], -32600);
}

TEST_F(LegEndsTest, AMessageAtTheBoundPasses) {
  attach_and_run();
  const std::string head =
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":")";
  cell_says(head + std::string(2000 - head.size() - 3, 'x') + R"("}})");
  ASSERT_EQ(effects_.host.size(), 1U);
  EXPECT_EQ(effects_.host.back().size(), 2000U);
}

// --- a host whose input ends -------------------------------------------------------------------

TEST_F(LegEndsTest, AllAnswersAreWaitedForAMinuteAndNoLonger) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  host_says(R"({"jsonrpc":"2.0","id":3,"method":"tools/list"})");
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_EQ(effects_.deadline, Milliseconds{60'000});
  server_answers(R"({"tools":[]})");
  EXPECT_EQ(effects_.last_to_host()["id"], 3);
  EXPECT_FALSE(session().is_over());
  session().deadline(now_);
  EXPECT_TRUE(session().is_over());
}

// A script that has said all it had to say hears of it as one that still could.
TEST_F(LegEndsTest, AServerThatFailsWhatWasSaidLastIsWhyTheSessionEnded) {
  effects_.stdio = true;
  attach_and_run(R"(,"stdio":true)");
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  session().host_ended(HostEnd::end_of_input, now_);
  cell().ended({}, now_);
  EXPECT_TRUE(session().is_over());
  const Json ended = Json::parse(effects_.control.back());
  EXPECT_EQ(ended["params"]["reason"], "server_failed") << ended;
  EXPECT_TRUE(ended["params"]["failure"].is_object()) << ended;
}

TEST_F(LegEndsTest, AnAnswerToAPingOfItsServerIsNoUseOfTheCell) {
  attach_and_run();
  const auto said = cell().said();
  cell_says(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  const Json ping = effects_.last_to_host();
  host_says(R"({"jsonrpc":"2.0","id":)" + ping["id"].dump() + R"(,"result":{}})");
  EXPECT_EQ(effects_.last_to_cell()["id"], 1);
  EXPECT_EQ(cell().said(), said);
}

TEST_F(LegEndsTest, WithNothingInFlightNothingIsWaitedFor) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  server_answers(R"({"tools":[]})");
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(LegEndsTest, AnOpenStreamIsNotWaitedFor) {
  config_.servers[0].era = ServerEra::modern;
  attach_and_run();
  ask(modern("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)"));
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_TRUE(session().is_over());
  EXPECT_EQ(effects_.last_to_cell()["method"], "notifications/cancelled");
}

TEST_F(LegEndsTest, AnOpenStreamOverABridgeIsNotWaitedFor) {
  config_.servers[0].era = ServerEra::legacy;
  attach_and_run();
  host_says(modern("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)"));
  server_shakes_hands();
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(LegEndsTest, AStreamThatIsOpenedAloneStartsNothingThatWouldBeWaitedFor) {
  attach_on_demand();
  host_says(modern("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)"));
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(LegEndsTest, ADiscoverThatWaitsForASurveyIsAnsweredAfterTheEndOfInput) {
  attach_on_demand();
  host_says(modern("1", "server/discover"));
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_EQ(effects_.deadline, Milliseconds{60'000});
  effects_.fake_catalogues.tell({.code = FailureCode::server_failed,
                                 .message = "it crashed",
                                 .server = {},
                                 .verdict = {},
                                 .cause = {},
                                 .facts = {},
                                 .stderr_tail = {}});
  EXPECT_EQ(effects_.last_to_host()["id"], 1);
  EXPECT_TRUE(session().is_over());
}

TEST_F(LegEndsTest, ACallThroughAllServersIsWaitedForWhileItsServerStarts) {
  config_.servers[0].era = ServerEra::legacy;
  host_says(modern("7", "tools/call", R"("name":"files__read_a","arguments":{},)"));
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_EQ(effects_.deadline, Milliseconds{60'000});
  cell_runs();
  server_shakes_hands();
  EXPECT_FALSE(session().is_over());
  server_answers(R"({"content":[]})");
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  EXPECT_TRUE(session().is_over());
}

TEST_F(LegEndsTest, ACallThroughAllServersEndsTheWaitWhenItsServerCannotStart) {
  config_.servers[0].era = ServerEra::legacy;
  host_says(modern("7", "tools/call", R"("name":"files__read_a","arguments":{},)"));
  session().host_ended(HostEnd::end_of_input, now_);
  cell().refused(wire::StartRefusal::too_many_cells, {}, now_);
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  EXPECT_TRUE(session().is_over());
}

// --- another cell --------------------------------------------------------------------------------

TEST_F(LegEndsTest, AStateOfACellThatHasEndedIsRefusedByTheNextOne) {
  config_.servers[0].client_features.elicitation = true;
  call_over_a_bridge("{}");
  cell().ended({}, now_);
  effects_.host.clear();
  host_says(modern("8", "tools/call",
                   R"("name":"read_a","arguments":{},"requestState":"old","inputResponses":{},)"));
  cell_runs();
  server_shakes_hands();
  EXPECT_EQ(effects_.last_to_host()["id"], 8);
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32602);
}

// --- a server route that answers at once ---------------------------------------------------------

TEST_F(LegEndsTest, ALegThatAnswersWithinTheCallItselfIsHeard) {
  config_.servers[0].era = ServerEra::legacy;
  host_says(modern("1", "ping"));
  effects_.audit = AuditState::broken;
  host_says(modern("7", "tools/call", R"("name":"files__read_a","arguments":{},)"));
  host_says(modern("8", "tools/call", R"("name":"files__read_a","arguments":{},)"));
  ASSERT_EQ(effects_.host.size(), 3U);
  EXPECT_EQ(Json::parse(effects_.host[1])["id"], 7);
  EXPECT_THAT(effects_.host[1], HasSubstr("audit_unavailable"));
  EXPECT_EQ(Json::parse(effects_.host[2])["id"], 8);
}

}  // namespace
}  // namespace cellblock::gateway::testing
