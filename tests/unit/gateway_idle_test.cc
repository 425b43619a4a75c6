#include <gmock/gmock.h>

#include <csignal>
#include <string>

#include "tests/unit/session_rig.h"

// Cells that nobody needs, and cells that say nothing, as sessions see them.

namespace cellblock::gateway::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* call =
    R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_a"}})";

std::string modern(std::string_view method, std::string_view more = "", std::size_t id = 5) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) +
         R"(","params":{)" + std::string(more) +
         R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
}

class IdleTest : public SessionTest {
 protected:
  IdleTest() { config_.servers[0].stop.idle = 30min; }

  void introduce(std::string_view capabilities = "{}") {
    attach(R"(,"start":"on_demand")");
    host_says(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"h","version":"1"}}})");
    cell_runs();
    welcome_ = R"({"protocolVersion":"2025-11-25","capabilities":)" + std::string(capabilities) +
               R"(,"serverInfo":{"name":"f","version":"1"}})";
    server_answers(welcome_);
    host_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }
  /// The cell's timer, as often as it is due.
  void time_passes(Milliseconds time) {
    const Time end = now_ + time;
    while (effects_.deadline && now_ + *effects_.deadline <= end && is_up()) {
      now_ += *effects_.deadline;
      cell().deadline(now_);
    }
    now_ = end;
  }
  bool is_up() {
    const CellState state = cell().state();
    return state == CellState::handshaking || state == CellState::ready;
  }

  std::string welcome_;
};

TEST_F(IdleTest, ACellThatNobodyNeedsIsStoppedAndTheSessionStays) {
  introduce();
  time_passes(1h);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "close_cell_input"));
  EXPECT_FALSE(session().is_over());
  cell().ended({.kind = EndKind::exited}, now_);
  EXPECT_EQ(effects_.ends.back().verdict, "idle");
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::cell_ended, AuditOutcome::ok)));
  EXPECT_THAT(effects_.host, Not(Contains(HasSubstr("error"))));
}

TEST_F(IdleTest, TheNextRequestStartsTheNextCell) {
  introduce();
  time_passes(1h);
  host_says(call);
  EXPECT_EQ(effects_.cells.size(), 2U) << "while the one before is on its way out";
  cell_runs();
  EXPECT_EQ(effects_.last_to_cell()["method"], "initialize");
  server_answers(welcome_);
  EXPECT_EQ(effects_.last_to_cell()["method"], "tools/call");
}

TEST_F(IdleTest, ACallKeepsItsCell) {
  introduce();
  host_says(call);
  time_passes(10h);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  server_answers(R"({"content":[]})");
  time_passes(1h);
  EXPECT_THAT(effects_.did, Contains("close_cell_input"));
}

TEST_F(IdleTest, AQuestionToTheUserKeepsItsCell) {
  config_.servers[0].client_features.elicitation = true;
  introduce();
  cell_says(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?"}})");
  time_passes(10h);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
}

TEST_F(IdleTest, AQuestionToTheHostsProgramKeepsNoCell) {
  config_.servers[0].client_features.roots = true;
  introduce();
  cell_says(R"({"jsonrpc":"2.0","id":"r","method":"roots/list"})");
  time_passes(10h);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "close_cell_input"));
}

TEST_F(IdleTest, ASubscriptionKeepsItsCell) {
  introduce(R"({"resources":{"subscribe":true}})");
  host_says(
      R"({"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"file:///a"}})");
  server_answers("{}");
  time_passes(10h);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
}

TEST_F(IdleTest, AnOpenTaskKeepsItsCellUntilItHasEnded) {
  introduce();
  host_says(call);
  server_answers(R"({"task":{"taskId":"t","status":"working"}})");
  time_passes(10h);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  cell_says(R"({"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t",)"
            R"("status":"completed"}})");
  time_passes(1h);
  EXPECT_THAT(effects_.did, Contains("close_cell_input"));
}

TEST_F(IdleTest, AStreamKeepsTheCellOfAModernHost) {
  config_.servers[0].era = ServerEra::modern;
  attach_and_run();
  host_says(modern("tools/call", R"("name":"read_a",)"));
  server_answers(R"({"content":[],"resultType":"complete"})");
  host_says(modern("subscriptions/listen", R"("notifications":{"toolsListChanged":true},)"));
  time_passes(10h);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
}

TEST_F(IdleTest, ASessionThatCouldNotGoOnKeepsItsCell) {
  attach(R"(,"start":"on_demand")");
  host_says(call);
  cell_runs();
  server_answers(R"({"content":[]})");
  time_passes(10h);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
}

TEST_F(IdleTest, ACellInWhichNobodyHasSaidAnythingIsStoppedToo) {
  attach_and_run();
  time_passes(1h);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "close_cell_input"));
  EXPECT_FALSE(session().is_over());
}

TEST_F(IdleTest, NeverIsNever) {
  config_.servers[0].stop.idle.reset();
  introduce();
  EXPECT_EQ(effects_.deadline, std::nullopt);
}

// --- all servers as one --------------------------------------------------------------------------

TEST_F(IdleTest, AmongAllServersAStreamOfListsKeepsNoCellAndIsOpenedAgainInTheNext) {
  config_.servers[0].era = ServerEra::modern;
  host_says(modern("subscriptions/listen", R"("notifications":{"toolsListChanged":true},)"));
  for (std::size_t cells = 1; cells <= 2; ++cells) {
    effects_.cell.clear();
    host_says(modern("tools/call", R"("name":"files__read_a",)", 10 + cells));
    ASSERT_EQ(effects_.cells.size(), cells);
    cell_runs();
    EXPECT_THAT(effects_.cell, Contains(HasSubstr("subscriptions/listen")));
    for (const std::string& line : std::vector(effects_.cell)) {
      const Json said = Json::parse(line);
      if (said["method"] != "tools/call") continue;
      cell_says(R"({"jsonrpc":"2.0","id":)" + said["id"].dump() +
                R"(,"result":{"content":[],"resultType":"complete"}})");
    }
    time_passes(1h);
    EXPECT_FALSE(is_up());
  }
  EXPECT_FALSE(session().is_over());
}

// --- one that says nothing -----------------------------------------------------------------------

class SilentTest : public IdleTest {
 protected:
  SilentTest() {
    config_.servers[0].stop.idle.reset();
    config_.servers[0].health = {.ping = 30s, .timeout = 10s};
  }
};

TEST_F(SilentTest, ALegacyServerIsPingedAndItsAnswerIsNobodys) {
  introduce();
  time_passes(30s);
  EXPECT_EQ(effects_.last_to_cell()["method"], "ping");
  effects_.host.clear();
  server_answers("{}");
  EXPECT_THAT(effects_.host, IsEmpty());
  time_passes(20s);
  EXPECT_TRUE(is_up());
}

TEST_F(SilentTest, AModernServerIsAskedWhatItIs) {
  config_.servers[0].era = ServerEra::modern;
  attach_and_run();
  host_says(modern("tools/call", R"("name":"read_a",)"));
  server_answers(R"({"content":[],"resultType":"complete"})");
  effects_.host.clear();
  time_passes(30s);
  EXPECT_EQ(effects_.last_to_cell()["method"], "server/discover");
  EXPECT_EQ(effects_.last_to_cell()["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28");
  server_answers(R"({"resultType":"complete"})");
  EXPECT_THAT(effects_.host, IsEmpty());
}

TEST_F(SilentTest, AServerThatDoesNotAnswerIsKilledAndItsCallsFail) {
  introduce();
  host_says(call);
  time_passes(41s);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "kill_cell"));
  cell().ended({.kind = EndKind::signalled, .signal = SIGKILL}, now_);
  EXPECT_EQ(effects_.ends.back().verdict, "unresponsive");
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::cell_ended, AuditOutcome::error)));
  EXPECT_THAT(effects_.last_to_host().dump(), HasSubstr("did not answer when it was asked"));
  EXPECT_FALSE(session().is_over());
}

TEST_F(SilentTest, AnErrorIsAnAnswerToo) {
  introduce();
  time_passes(30s);
  cell_says(R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() +
            R"(,"error":{"code":-32601,"message":"no ping"}})");
  time_passes(20s);
  EXPECT_TRUE(is_up());
}

TEST_F(SilentTest, ACellWhoseHostReadsNothingIsNotJudged) {
  introduce();
  host_says(call);
  time_passes(30s);
  cell().set_paused(true, now_);
  time_passes(1h);
  EXPECT_TRUE(is_up());
}

}  // namespace
}  // namespace cellblock::gateway::testing
