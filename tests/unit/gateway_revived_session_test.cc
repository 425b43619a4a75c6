#include <gmock/gmock.h>

#include <string>

#include "tests/unit/session_rig.h"

// Sessions of legacy hosts that outlive their cells.

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* welcome =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},)"
    R"("resources":{"subscribe":true}},"serverInfo":{"name":"f","version":"1"}})";
constexpr const char* crash_call =
    R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_a"}})";

class RevivedSessionTest : public SessionTest {
 protected:
  void cell_runs() {
    cell().started(next_cell_++, now_);
    cell().running(now_);
  }
  void server_answers(const Json& request, std::string_view body) {
    cell_says(R"({"jsonrpc":"2.0","id":)" + request["id"].dump() + "," + std::string(body) + "}");
  }
  void host_asks(std::string_view id, std::string_view method, std::string_view params = "{}") {
    host_says(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" +
              std::string(method) + R"(","params":)" + std::string(params) + "}");
  }
  void introduce() {
    attach(R"(,"start":"on_demand")");
    host_asks("1", "initialize",
              R"({"protocolVersion":"2025-11-25","capabilities":{},)"
              R"("clientInfo":{"name":"h","version":"1"}})");
    cell_runs();
    server_answers(effects_.last_to_cell(), R"("result":)" + std::string(welcome));
    host_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }
  void crash() { cell().ended({.kind = EndKind::exited, .exit_code = 3}, now_); }
  /// Nothing has been said to the next cell but its introduction.
  void next_cell_is_introduced(std::string_view body = {}) {
    effects_.cell.clear();
    cell_runs();
    ASSERT_EQ(effects_.cell.size(), 1U);
    ASSERT_EQ(effects_.last_to_cell()["method"], "initialize");
    effects_.host.clear();
    server_answers(effects_.last_to_cell(),
                   body.empty() ? R"("result":)" + std::string(welcome) : std::string(body));
  }
  std::vector<std::string> methods_to_cell() const {
    std::vector<std::string> methods;
    for (const std::string& line : effects_.cell) {
      methods.push_back(Json::parse(line).value("method", ""));
    }
    return methods;
  }

  std::uint64_t next_cell_ = 37;
};

TEST_F(RevivedSessionTest, ALegacyHostGoesOnInTheNextCellAndSeesNothingOfItsIntroduction) {
  introduce();
  crash();
  EXPECT_FALSE(session().is_over());
  host_says(crash_call);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "start_cell"));
  next_cell_is_introduced();
  EXPECT_THAT(methods_to_cell(),
              ElementsAre("initialize", "notifications/initialized", "tools/call"));
  EXPECT_THAT(effects_.host, ElementsAre(HasSubstr("notifications/tools/list_changed")));
  server_answers(effects_.last_to_cell(), R"("result":{"content":[]})");
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
}

TEST_F(RevivedSessionTest, WhatWasInFlightFailsAndIsNotSaidAgain) {
  introduce();
  host_says(crash_call);
  crash();
  EXPECT_EQ(effects_.last_to_host()["result"]["isError"], true);
  host_asks("8", "tools/list");
  next_cell_is_introduced();
  EXPECT_THAT(methods_to_cell(),
              ElementsAre("initialize", "notifications/initialized", "tools/list"));
}

TEST_F(RevivedSessionTest, SubscriptionsAndTheLevelAreRestored) {
  introduce();
  host_asks("2", "resources/subscribe", R"({"uri":"file:///a"})");
  server_answers(effects_.last_to_cell(), R"("result":{})");
  crash();
  host_asks("8", "tools/list");
  next_cell_is_introduced();
  EXPECT_THAT(methods_to_cell(), ElementsAre("initialize", "notifications/initialized",
                                             "resources/subscribe", "tools/list"));
  EXPECT_THAT(effects_.host, Contains(HasSubstr("notifications/resources/updated")));
  const std::size_t said = effects_.host.size();
  server_answers(Json::parse(effects_.cell[2]), R"("result":{})");
  EXPECT_EQ(effects_.host.size(), said);
}

TEST_F(RevivedSessionTest, ACellThatCannotTakeItOnEndsTheSessionAndSaysWhy) {
  introduce();
  crash();
  host_says(crash_call);
  next_cell_is_introduced(R"("result":{"protocolVersion":"2025-06-18","capabilities":{}})");
  const std::string said = effects_.last_to_host().dump();
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  EXPECT_THAT(said, HasSubstr("cannot go on in its new cell"));
  EXPECT_THAT(said, HasSubstr("2025-06-18"));
  session().deadline(now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(RevivedSessionTest, ACellThatDiesWhileItIsIntroducedFailsTheCallAndNotTheSession) {
  introduce();
  crash();
  host_says(crash_call);
  cell_runs();
  effects_.host.clear();
  crash();
  ASSERT_EQ(effects_.host.size(), 1U) << "only what the host asked is answered";
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  EXPECT_FALSE(session().is_over());
  host_asks("8", "tools/list");
  next_cell_is_introduced();
  EXPECT_EQ(methods_to_cell().back(), "tools/list");
}

TEST_F(RevivedSessionTest, AServerThatAsksTheHostWhileItIsIntroducedHearsItsAnswer) {
  config_.servers[0].client_features.roots = true;
  introduce();
  crash();
  host_says(crash_call);
  cell_runs();
  const Json introduction = effects_.last_to_cell();
  cell_says(R"({"jsonrpc":"2.0","id":"r","method":"roots/list"})");
  const Json question = effects_.last_to_host();
  ASSERT_EQ(question["method"], "roots/list") << question;
  host_says(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() + R"(,"result":{"roots":[]}})");
  EXPECT_EQ(effects_.last_to_cell()["id"], "r");
  server_answers(introduction, R"("result":)" + std::string(welcome));
  EXPECT_EQ(methods_to_cell().back(), "tools/call");
}

TEST_F(RevivedSessionTest, ANotificationAloneStartsNothing) {
  introduce();
  crash();
  host_says(R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})");
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
}

TEST_F(RevivedSessionTest, ASessionThatWasNeverIntroducedEndsWithItsCell) {
  attach(R"(,"start":"on_demand")");
  host_says(crash_call);
  cell_runs();
  crash();
  session().deadline(now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(RevivedSessionTest, AnIdempotentCallIsMadeAgainInTheNextCell) {
  config_.servers[0].calls.tools = {{.name = "read_a", .repeatable = Repeatable::yes}};
  introduce();
  host_says(crash_call);
  effects_.host.clear();
  crash();
  EXPECT_THAT(effects_.host, IsEmpty());
  effects_.ring(now_);
  next_cell_is_introduced();
  EXPECT_EQ(methods_to_cell().back(), "tools/call");
}

TEST_F(RevivedSessionTest, ARestartFailsWhatIsInFlightAndLeavesTheSession) {
  introduce();
  host_says(crash_call);
  session().renew_server(0, now_);
  EXPECT_THAT(effects_.last_to_host().dump(), HasSubstr("the server was restarted"));
  EXPECT_THAT(effects_.did, Contains("close_cell_input"));
  EXPECT_FALSE(session().is_over());
  host_asks("8", "tools/list");
  EXPECT_EQ(effects_.cells.size(), 2U);
  next_cell_is_introduced();
  EXPECT_EQ(methods_to_cell().back(), "tools/list");
}

TEST_F(RevivedSessionTest, ARestartEndsASessionThatWasNeverIntroduced) {
  attach_and_run();
  host_says(crash_call);
  session().renew_server(0, now_);
  EXPECT_TRUE(session().is_over());
}

// --- a cell that gives way to another one --------------------------------------------------------

TEST_F(RevivedSessionTest, AQuietCellGivesWayAtOnceAndNothingIsStarted) {
  introduce();
  session().replace_server(0, now_);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "close_cell_input"));
  host_asks("8", "tools/list");
  next_cell_is_introduced();
  EXPECT_EQ(methods_to_cell().back(), "tools/list");
}

TEST_F(RevivedSessionTest, ACellGivesWayWhenItsCallsAreAnsweredAndWhatComesMeanwhileIsForTheNext) {
  introduce();
  host_says(crash_call);
  const Json call = effects_.last_to_cell();
  session().replace_server(0, now_);
  host_asks("8", "tools/list");
  EXPECT_EQ(effects_.last_to_cell(), call);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  server_answers(call, R"("result":{"content":[]})");
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "close_cell_input", "start_cell"));
  next_cell_is_introduced();
  EXPECT_EQ(methods_to_cell().back(), "tools/list");
}

TEST_F(RevivedSessionTest, ACellThatDoesNotGetQuietGivesWayAllTheSame) {
  introduce();
  host_says(crash_call);
  session().replace_server(0, now_);
  effects_.ring(now_);
  EXPECT_THAT(effects_.last_to_host().dump(), HasSubstr("its declaration has changed"));
  EXPECT_THAT(effects_.did, Contains("close_cell_input"));
  EXPECT_FALSE(session().is_over());
}

TEST_F(RevivedSessionTest, ACancellationReachesTheCellThatIsToGiveWay) {
  introduce();
  host_says(crash_call);
  session().replace_server(0, now_);
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  EXPECT_EQ(effects_.last_to_cell()["method"], "notifications/cancelled");
}

TEST_F(RevivedSessionTest, ASessionThatWasNeverIntroducedEndsWithTheCellThatGivesWay) {
  attach(R"(,"start":"on_demand")");
  host_says(crash_call);
  cell_runs();
  session().replace_server(0, now_);
  server_answers(effects_.last_to_cell(), R"("result":{"content":[]})");
  session().deadline(now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(RevivedSessionTest, AHostThatHasSaidNothingIsGivenTheNextCell) {
  attach_and_run();
  session().replace_server(0, now_);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "close_cell_input", "start_cell"));
  EXPECT_FALSE(session().is_over());
}

TEST_F(RevivedSessionTest, ACellThatDiesBeforeItGivesWayIsFollowedByAnother) {
  introduce();
  host_says(crash_call);
  session().replace_server(0, now_);
  crash();
  host_asks("8", "tools/list");
  next_cell_is_introduced();
  EXPECT_EQ(methods_to_cell().back(), "tools/list");
}

}  // namespace
}  // namespace cellblock::gateway::testing
