#include <gmock/gmock.h>

#include <string>

#include "tests/unit/session_rig.h"

namespace cellblock::gateway::testing {
namespace {

using ::testing::IsEmpty;

constexpr std::string_view memory =
    R"(,"stdio":true,"start":"on_demand","resume":{"memory":{"params":{"a":1},"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"initialized":true,"level":null,"subscriptions":[]},"unread":"b25l"})";

class ResumedSession : public SessionTest {
 protected:
  ResumedSession() {
    config_.servers[0].lines = {20'000, 20'000, 20'000};
    config_.servers[0].era = ServerEra::legacy;
    effects_.stdio = true;
  }

  Json told() const { return Json::parse(effects_.control.back()); }
  void ask_first() {
    attach(memory);
    host_says(R"({"jsonrpc":"2.0","id":5,"method":"ping"})");
    cell_runs();
  }
  void agree(std::string_view version) {
    server_answers(R"({"protocolVersion":")" + std::string(version) +
                   R"(","capabilities":{},"serverInfo":{"name":"s","version":"1"}})");
  }
};

TEST_F(ResumedSession, GetsBackWhatTheGatewayBeforeHadRead) {
  attach(memory);
  EXPECT_EQ(effects_.prefilled, "one");
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(ResumedSession, TellsItsServerOfTheSessionBeforeTheFirstRequest) {
  ask_first();
  EXPECT_EQ(effects_.flow, HostFlow::held);
  EXPECT_EQ(effects_.last_to_cell()["method"], "initialize");
  EXPECT_EQ(effects_.last_to_cell()["params"], Json({{"a", 1}}));
  agree("2025-11-25");
  EXPECT_EQ(effects_.flow, HostFlow::flowing);
  EXPECT_THAT(effects_.host, IsEmpty());
  ASSERT_EQ(effects_.cell.size(), 3U);
  EXPECT_EQ(Json::parse(effects_.cell[1])["method"], "notifications/initialized");
  EXPECT_EQ(effects_.last_to_cell()["method"], "ping");
}

TEST_F(ResumedSession, IsTakenUpByAFirstRequestOfAnyLengthThatItsServerTakes) {
  config_.servers[0].lines.from_host = 1U << 20;
  attach(memory);
  const std::string text(2 * SessionHandoff::max_unread, 'x');
  host_says(
      R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_a","arguments":)"
      R"({"text":")" +
      text + R"("}}})");
  cell_runs();
  agree("2025-11-25");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(effects_.last_to_cell()["params"]["arguments"]["text"], text);
}

TEST_F(ResumedSession, EndsWithTheReasonWhereItsServerIsAnotherNow) {
  ask_first();
  agree("2024-11-05");
  EXPECT_EQ(effects_.last_to_host()["id"], 5);
  EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "server_failed");
  EXPECT_THAT(effects_.host.back(), ::testing::HasSubstr("cannot go on with its server"));
  EXPECT_EQ(effects_.host.size(), 1U);
}

TEST_F(ResumedSession, AnswersTheFirstRequestWhereItsServerDoesNotStart) {
  ask_first();
  CellFacts facts;
  facts.kind = EndKind::exited;
  facts.exit_code = 3;
  cell().ended(facts, now_);
  EXPECT_EQ(effects_.last_to_host()["id"], 5);
  EXPECT_TRUE(effects_.last_to_host().contains("error"));
  EXPECT_EQ(effects_.host.size(), 1U);
}

TEST_F(ResumedSession, IsRefusedWithoutStdioOrWithNonsense) {
  effects_.stdio = false;
  attach(R"(,"resume":{"memory":null,"unread":""})");
  EXPECT_EQ(told()["error"]["data"]["code"], "invalid_request");
  effects_.stdio = true;
  attach(R"(,"stdio":true,"resume":{"memory":7})");
  EXPECT_EQ(told()["error"]["data"]["code"], "invalid_request");
}

TEST_F(ResumedSession, CanGoOnAgainWhileItIsTakenUp) {
  ask_first();
  session().stop(Session::StopReason::shutting_down, now_);
  EXPECT_EQ(told()["params"]["reason"], "shutting_down");
  EXPECT_EQ(told()["params"]["resume"]["memory"]["params"], Json({{"a", 1}}));
}

TEST_F(ResumedSession, KeepsForTheNextGatewayWhatIsSaidWhileItDrains) {
  attach_and_run(R"(,"stdio":true)");
  const std::string id = ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  session().drain(Milliseconds{5'000}, now_);
  host_says(R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}})");
  effects_.unread = "{";
  cell_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
  EXPECT_EQ(effects_.host.size(), 1U);
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  const std::string unread = told()["params"]["resume"]["unread"];
  EXPECT_TRUE(unread.starts_with("eyJqc29ucnBjIjoi")) << unread;
  EXPECT_TRUE(session().is_over());
}

TEST_F(ResumedSession, CannotGoOnInTheMiddleOfALineThatIsTooLong) {
  attach_and_run(R"(,"stdio":true)");
  effects_.unread.reset();
  session().stop(Session::StopReason::shutting_down, now_);
  EXPECT_FALSE(told()["params"].contains("resume"));
  EXPECT_EQ(told()["params"]["reason"], "shutting_down");
}

}  // namespace
}  // namespace cellblock::gateway::testing
