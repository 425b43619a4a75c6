#include <gmock/gmock.h>

#include <string>

#include "tests/unit/session_rig.h"

// How many calls, how fast, for how long, and which of them are made again: what hosts and servers
// see of it.

namespace cellblock::gateway::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string call(int id, std::string_view tool = "read_a", std::string_view more = "") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":")" + std::string(tool) +
         R"(","arguments":{})" + std::string(more) + "}}";
}

std::string modern_call(int id, std::string_view tool = "read_a") {
  return call(id, tool,
              R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
              R"("io.modelcontextprotocol/clientCapabilities":{}})");
}

std::string cancelled(int id) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
         std::to_string(id) + "}}";
}

class CallLimits : public SessionTest {
 protected:
  CallLimits() { config_.servers[0].client_features.elicitation = true; }
  Server& server() { return config_.servers[0]; }

  void server_answers(const std::string& ours) {
    cell_says(R"({"jsonrpc":"2.0","id":)" + ours + R"(,"result":{"content":[]}})");
  }
  void server_tells_progress(const std::string& ours, int value) {
    cell_says(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
              ours + R"(,"progress":)" + std::to_string(value) + "}}");
  }
  void passes(Milliseconds time) {
    now_ += time;
    effects_.ring(now_);
  }
  std::string error_of(const Json& answer) {
    if (answer.contains("error")) return answer["error"]["data"]["code"];
    return answer["result"].value("isError", false)
               ? answer["result"]["_meta"]["cellblock/error"]["code"].get<std::string>()
               : "none";
  }
  std::string last_error() { return error_of(effects_.last_to_host()); }
  std::uint32_t in_flight() { return policy().places.in_flight(BoundOf::server, {}); }
};

// --- places --------------------------------------------------------------------------------------

TEST_F(CallLimits, ACallOverTheBoundIsRefusedAndOnlyUntilAnotherIsAnswered) {
  server().calls.bounds.in_flight = 1;
  attach_and_run();
  const std::string first = ask(call(1));
  host_says(call(2));
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  EXPECT_EQ(last_error(), "rate_limited");
  EXPECT_GT(effects_.last_to_host()["result"]["_meta"]["cellblock/error"]["retry_after_ms"], 0);
  EXPECT_EQ(effects_.cell.size(), 1U) << "the server never saw it";
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call, AuditOutcome::denied)));
  server_answers(first);
  ask(call(3));
  EXPECT_EQ(effects_.cell.size(), 2U);
}

TEST_F(CallLimits, EveryEndOfACallGivesItsPlaceBack) {
  server().calls.bounds.in_flight = 8;
  server().calls.queue.most = 8;
  attach_and_run();
  const std::string answered = ask(call(1));
  const std::string failed = ask(call(2));
  ask(call(3));
  ask(call(4));
  EXPECT_EQ(in_flight(), 4U);
  server_answers(answered);
  EXPECT_EQ(in_flight(), 3U);
  cell_says(R"({"jsonrpc":"2.0","id":)" + failed + R"(,"error":{"code":1,"message":"no"}})");
  EXPECT_EQ(in_flight(), 2U);
  host_says(cancelled(3));
  EXPECT_EQ(in_flight(), 1U);
  passes(60s);
  EXPECT_EQ(in_flight(), 0U);
  for (int id = 10; id < 20; ++id) host_says(call(id));
  EXPECT_EQ(in_flight(), 8U);
  cell().ended({.kind = EndKind::exited, .exit_code = 3}, now_);
  EXPECT_EQ(in_flight(), 0U);
  EXPECT_EQ(policy().places.waiting(0), 0U);
}

TEST_F(CallLimits, ASessionThatEndsTakesItsPlacesWithIt) {
  server().calls.bounds.in_flight = 2;
  server().calls.queue.most = 4;
  attach_and_run();
  for (int id = 1; id < 6; ++id) host_says(call(id));
  EXPECT_EQ(in_flight(), 2U);
  session_.reset();
  EXPECT_EQ(in_flight(), 0U);
  EXPECT_EQ(policy().places.waiting(0), 0U);
}

TEST_F(CallLimits, ACallThatWaitsIsRecordedAndSentWhenThereIsRoom) {
  server().calls.bounds.in_flight = 1;
  server().calls.queue.most = 1;
  attach_and_run();
  const std::string first = ask(call(1));
  const std::size_t records = effects_.notes.size();
  host_says(call(2));
  EXPECT_EQ(effects_.cell.size(), 1U);
  EXPECT_EQ(effects_.notes.size(), records);
  server_answers(first);
  effects_.ring(now_);
  ASSERT_EQ(effects_.cell.size(), 2U);
  EXPECT_EQ(effects_.notes.back(), std::pair(AuditKind::call, AuditOutcome::ok));
  server_answers(effects_.last_to_cell()["id"].dump());
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  EXPECT_EQ(last_error(), "none");
}

TEST_F(CallLimits, ACallThatIsCancelledWhileItWaitsIsNeverHeardOf) {
  server().calls.bounds.in_flight = 1;
  server().calls.queue.most = 1;
  attach_and_run();
  const std::string first = ask(call(1));
  host_says(call(2));
  host_says(cancelled(2));
  server_answers(first);
  effects_.ring(now_);
  EXPECT_EQ(effects_.cell.size(), 1U);
}

TEST_F(CallLimits, NothingWaitsForLongerThanItMay) {
  server().calls.bounds.in_flight = 1;
  server().calls.queue = {.most = 1, .longest_wait = 5s};
  attach_and_run();
  ask(call(1));
  host_says(call(2));
  EXPECT_EQ(effects_.next_alarm(), 5s);
  passes(5s);
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  EXPECT_EQ(last_error(), "rate_limited");
  EXPECT_EQ(effects_.cell.size(), 1U);
}

// --- time ----------------------------------------------------------------------------------------

TEST_F(CallLimits, ACallWhoseTimeIsOverFailsAndTheServerIsToldToStop) {
  attach_and_run();
  const std::string ours = ask(call(1));
  EXPECT_EQ(effects_.next_alarm(), 60s);
  passes(60s);
  EXPECT_EQ(last_error(), "timeout");
  EXPECT_THAT(effects_.host.back(), HasSubstr("did not answer within 1m (deadline)"));
  const Json told = effects_.last_to_cell();
  EXPECT_EQ(told["method"], "notifications/cancelled");
  EXPECT_EQ(told["params"]["requestId"].dump(), ours);
  const std::size_t heard = effects_.host.size();
  server_answers(ours);
  EXPECT_EQ(effects_.host.size(), heard) << "it is late";
  EXPECT_EQ(session().traffic(0).late_answers, 1U);
}

TEST_F(CallLimits, ACallDuringWhichTheNetworkWasRefusedIsToldWhatWouldAllowIt) {
  attach_and_run();
  ask(call(1));
  effects_.refused = RefusedNetwork{.what = "resolve api.example.org",
                                    .reason = "no rule",
                                    .allow = "egress.allow = [\"api.example.org:443\"]"};
  passes(60s);
  EXPECT_EQ(last_error(), "timeout");
  EXPECT_THAT(effects_.host.back(),
              AllOf(HasSubstr("api.example.org:443"), HasSubstr("may have been done in part")));
}

TEST_F(CallLimits, WhatIsNoToolsCallFailsWithAnError) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}})");
  passes(60s);
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -31017);
}

TEST_F(CallLimits, AToolHasItsOwnTime) {
  server().calls.tools = {{.name = "read_b", .time = {5s, 5s}}};
  attach_and_run();
  ask(call(1));
  ask(call(2, "read_b"));
  passes(5s);
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  passes(54s);
  EXPECT_EQ(effects_.host.size(), 1U);
  passes(1s);
  EXPECT_EQ(effects_.last_to_host()["id"], 1);
}

TEST_F(CallLimits, TheHandshakeHasATimeOfItsOwn) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})");
  passes(24h);
  EXPECT_TRUE(effects_.host.empty());
}

TEST_F(CallLimits, ProgressThatRisesGivesTimeAnewUpToTheLongest) {
  server().calls.time = {60s, 100s};
  attach_and_run();
  const std::string ours = ask(call(1, "read_a", R"(,"_meta":{"progressToken":"t"})"));
  now_ += 50s;
  server_tells_progress(ours, 1);
  passes(50s - 1ms);
  EXPECT_EQ(effects_.host.size(), 1U) << "the progress";
  server_tells_progress(ours, 2);
  passes(1ms);
  EXPECT_EQ(last_error(), "timeout");
  EXPECT_THAT(effects_.host.back(), HasSubstr("(max_deadline)"));
}

TEST_F(CallLimits, ProgressThatDoesNotRiseGivesNone) {
  attach_and_run();
  const std::string ours = ask(call(1, "read_a", R"(,"_meta":{"progressToken":"t"})"));
  server_tells_progress(ours, 1);
  now_ += 50s;
  server_tells_progress(ours, 1);
  passes(10s);
  EXPECT_EQ(last_error(), "timeout");
}

TEST_F(CallLimits, TheClockStandsWhileTheServerWaitsForAnAnswer) {
  attach_and_run();
  ask(call(1));
  now_ += 10s;
  cell_says(
      R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}})");
  const Json question = effects_.last_to_host();
  ASSERT_EQ(question["method"], "elicitation/create");
  passes(5min);
  EXPECT_EQ(effects_.host.size(), 1U);
  host_says(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() +
            R"(,"result":{"action":"decline"}})");
  passes(50s - 1ms);
  EXPECT_EQ(effects_.host.size(), 1U);
  passes(1ms);
  EXPECT_EQ(last_error(), "timeout");
}

TEST_F(CallLimits, AQuestionThatNobodyAnswersHoldsACallForTheLongestAtMost) {
  attach_and_run();
  ask(call(1));
  cell_says(
      R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}})");
  passes(59min);
  EXPECT_EQ(effects_.host.size(), 1U);
  passes(1min);
  EXPECT_EQ(last_error(), "timeout");
}

// --- once more -----------------------------------------------------------------------------------

class Retried : public CallLimits {
 protected:
  Retried() {
    server().calls.tools = {{.name = "read_a", .repeatable = Repeatable::yes}};
    server().era = ServerEra::modern;
  }
  void attach_on_demand() { attach(R"(,"start":"on_demand")"); }
  void server_has_answered_before() {
    host_says(modern_call(100));
    cell_runs();
    if (server().era == ServerEra::legacy) shake_hands();
    server_answers(effects_.last_to_cell()["id"].dump());
    effects_.host.clear();
  }
  void shake_hands() {
    cell_says(
        R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() +
        R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}})");
  }
  void cell_crashes() { cell().ended({.kind = EndKind::exited, .exit_code = 3}, now_); }
};

TEST_F(Retried, AnIdempotentCallIsMadeAgainInTheNextCell) {
  for (const ServerEra era : {ServerEra::modern, ServerEra::legacy}) {
    SCOPED_TRACE(era == ServerEra::legacy ? "over a bridge" : "as it is");
    server().era = era;
    session_.reset();
    effects_.cells.clear();
    effects_.host.clear();
    attach_on_demand();
    server_has_answered_before();
    host_says(modern_call(7));
    cell_crashes();
    EXPECT_TRUE(effects_.host.empty());
    const std::size_t cells = effects_.cells.size();
    effects_.ring(now_);
    ASSERT_EQ(effects_.cells.size(), cells + 1);
    cell_runs();
    if (era == ServerEra::legacy) shake_hands();
    EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "read_a");
    server_answers(effects_.last_to_cell()["id"].dump());
    ASSERT_EQ(effects_.host.size(), 1U);
    EXPECT_EQ(effects_.last_to_host()["id"], 7);
    EXPECT_EQ(last_error(), "none");
  }
}

TEST_F(Retried, AnotherCallFailsAtOnce) {
  attach_on_demand();
  server_has_answered_before();
  host_says(modern_call(7));
  host_says(modern_call(8, "read_b"));
  cell_crashes();
  ASSERT_EQ(effects_.host.size(), 1U);
  EXPECT_EQ(effects_.last_to_host()["id"], 8);
  EXPECT_EQ(last_error(), "server_failed");
}

TEST_F(Retried, ACallThatWaitedForItsPlaceIsMadeAgainWhateverItIs) {
  server().calls.bounds.in_flight = 1;
  server().calls.queue.most = 1;
  attach_on_demand();
  server_has_answered_before();
  host_says(modern_call(7, "read_b"));
  host_says(modern_call(8, "read_b"));
  cell_crashes();
  ASSERT_EQ(effects_.host.size(), 1U);
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  effects_.ring(now_);
  cell_runs();
  server_answers(effects_.last_to_cell()["id"].dump());
  EXPECT_EQ(effects_.last_to_host()["id"], 8);
  EXPECT_EQ(last_error(), "none");
}

TEST_F(Retried, ACallThatCrashesEachCellFailsInTheEnd) {
  attach_on_demand();
  server_has_answered_before();
  host_says(modern_call(7));
  for (int attempt = 0; attempt < 2; ++attempt) {
    cell_crashes();
    ASSERT_TRUE(effects_.host.empty()) << attempt;
    effects_.ring(now_);
    cell_runs();
    host_says(modern_call(50 + attempt, "read_b"));  // which it answers before it crashes
    server_answers(effects_.last_to_cell()["id"].dump());
    effects_.host.clear();
  }
  cell_crashes();
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  EXPECT_EQ(last_error(), "server_failed");
}

TEST_F(Retried, WhoCancelsBeforeItIsMadeAgainHearsNothingMore) {
  attach_on_demand();
  server_has_answered_before();
  host_says(modern_call(7));
  cell_crashes();
  const std::size_t cells = effects_.cells.size();
  host_says(cancelled(7));
  effects_.ring(now_);
  EXPECT_EQ(effects_.cells.size(), cells);
  EXPECT_TRUE(effects_.host.empty());
}

TEST_F(Retried, ASessionThatIsStoppedMakesNothingAgain) {
  attach_on_demand();
  server_has_answered_before();
  host_says(modern_call(7));
  cell_crashes();
  const std::size_t cells = effects_.cells.size();
  session().stop(Session::StopReason::stopped, now_);
  effects_.ring(now_);
  EXPECT_EQ(effects_.cells.size(), cells);
  EXPECT_EQ(last_error(), "server_failed");
}

TEST_F(Retried, WhatTheHostHasBegunItselfNobodyElseBeginsAgain) {
  server().era = ServerEra::legacy;
  attach_on_demand();
  host_says(call(1));
  cell_runs();
  server_answers(effects_.last_to_cell()["id"].dump());
  host_says(call(7));
  cell_crashes();
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  EXPECT_EQ(last_error(), "server_failed");
}

}  // namespace
}  // namespace cellblock::gateway::testing
