#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/gateway/checks/pin_book.h"
#include "tests/unit/session_rig.h"

namespace cellblock::gateway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A session whose servers are pinned.
class PinnedSession : public SessionTest, protected PinEffects {
 protected:
  PinnedSession() {
    config_.servers[0].era = ServerEra::legacy;
    PinEffects& effects = *this;
    pins_ = &book_.emplace(config_, effects);
    attach_and_run();
    effects_.cell.clear();
    effects_.host.clear();
  }

  void pins_changed(std::uint32_t) override {}
  void pin_event(std::uint32_t, const PinEvent&) override {}
  std::int64_t unix_ms() const override { return 1'000; }

  static std::string request(int id, const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
           R"(","params":)" + params + "}";
  }
  static std::string call(int id, const std::string& tool) {
    return request(id, "tools/call", R"({"name":")" + tool + R"(","arguments":{}})");
  }
  /// The server's answer to what it was asked last.
  void cell_answers(const std::string& result) {
    cell_says(R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() + R"(,"result":)" +
              result + "}");
  }
  static std::string listed(const std::string& name, const std::string& description) {
    return R"({"tools":[{"name":")" + name + R"(","description":")" + description +
           R"(","inputSchema":{"type":"object"}}]})";
  }
  std::string last_method() { return effects_.last_to_cell()["method"]; }

  std::optional<PinBook> book_;
};

TEST_F(PinnedSession, WithholdsWhatHasChangedFromListAndCall) {
  host_says(request(1, "tools/list", "{}"));
  cell_answers(listed("read_a", "Reads."));
  EXPECT_EQ(effects_.last_to_host()["result"]["tools"].size(), 1U);
  host_says(request(2, "tools/list", "{}"));
  cell_answers(listed("read_a", "Sends."));
  EXPECT_THAT(effects_.last_to_host()["result"]["tools"], IsEmpty());
  const std::size_t asked = effects_.cell.size();
  host_says(call(3, "read_a"));
  EXPECT_THAT(effects_.host.back(), HasSubstr("quarantined"));
  EXPECT_THAT(effects_.cell, SizeIs(asked));
}

TEST_F(PinnedSession, SendsAListThatIsSoundAsItCame) {
  host_says(request(1, "tools/list", "{}"));
  const std::string odd = R"({ "tools" : [ {"name":"read_a", "inputSchema":{}} ] })";
  cell_answers(odd);
  EXPECT_THAT(effects_.host.back(), HasSubstr(odd));
}

TEST_F(PinnedSession, AsksForTheListBeforeTheFirstCallOfAHostThatDidNot) {
  host_says(call(1, "read_a"));
  EXPECT_EQ(last_method(), "tools/list");
  host_says(call(2, "read_b"));
  cell_answers(listed("read_a", "Reads."));
  ASSERT_THAT(effects_.cell, SizeIs(2));
  EXPECT_EQ(last_method(), "tools/call");
  EXPECT_THAT(effects_.host, SizeIs(1));
  EXPECT_THAT(effects_.host.back(), HasSubstr("Unknown tool: read_b"));
  host_says(call(3, "read_a"));
  EXPECT_THAT(effects_.cell, SizeIs(3));
}

TEST_F(PinnedSession, KeepsTheOrderOfWhatWaitedForTheCell) {
  session_.reset();
  attach(R"(,"start":"on_demand")");
  host_says(call(1, "read_a"));
  host_says(call(2, "read_a"));
  cell().started(37, now_);
  cell().running(now_);
  ASSERT_THAT(effects_.cell, SizeIs(1));
  cell_answers(listed("read_a", "Reads."));
  EXPECT_THAT(effects_.cell, SizeIs(3));
}

TEST_F(PinnedSession, GoesOnWithoutAListThatDoesNotCome) {
  host_says(call(1, "read_a"));
  ASSERT_EQ(last_method(), "tools/list");
  effects_.ring(now_);
  EXPECT_EQ(last_method(), "tools/call");
}

TEST_F(PinnedSession, GoesOnWhereTheServerHasNoLists) {
  host_says(call(1, "read_a"));
  cell_says(R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() +
            R"(,"error":{"code":-32601,"message":"no"}})");
  EXPECT_EQ(last_method(), "tools/call");
}

TEST_F(PinnedSession, FailsTheCallThatWaitsWhenTheCellEnds) {
  host_says(call(1, "read_a"));
  cell().ended({.kind = EndKind::exited, .exit_code = 1}, now_);
  ASSERT_THAT(effects_.host, SizeIs(1));
  EXPECT_THAT(effects_.host.front(), HasSubstr("server_failed"));
  effects_.cell.clear();
  effects_.ring(now_);
  EXPECT_THAT(effects_.cell, IsEmpty()) << "nobody waits for the list any more";
  EXPECT_THAT(effects_.host, SizeIs(1));
}

TEST_F(PinnedSession, FailsWhatElseIsInFlightWhenNobodyCanSayWhoseAnswerWasLost) {
  host_says(request(1, "resources/list", "{}"));
  host_says(call(2, "read_a"));
  ASSERT_EQ(last_method(), "tools/list");
  cell().line_too_long(5'000, now_);
  ASSERT_THAT(effects_.host, SizeIs(1));
  EXPECT_EQ(effects_.last_to_host()["id"], 1);
  EXPECT_THAT(effects_.host.back(), HasSubstr("too_large"));
  EXPECT_EQ(last_method(), "tools/call") << "without the list, which is not waited for either";
}

TEST_F(PinnedSession, FailsNothingElseWhenItIsTheListThatWasLost) {
  host_says(request(1, "resources/list", "{}"));
  host_says(call(2, "read_a"));
  const std::string list = effects_.last_to_cell()["id"].dump();
  cell_says(R"({"jsonrpc":"2.0","id":)" + list + R"(,"result":{},"error":{}})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(last_method(), "tools/call");
}

TEST_F(PinnedSession, ForgetsACallThatIsCancelledWhileItWaits) {
  host_says(call(1, "read_a"));
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  cell_answers(listed("read_a", "Reads."));
  EXPECT_THAT(effects_.cell, SizeIs(1));
}

/// The same, where host and server speak different eras and a bridge stands between.
class BridgedPins : public PinnedSession {
 protected:
  BridgedPins() {
    session_.reset();
    attach(R"(,"start":"on_demand")");
    effects_.cell.clear();
    effects_.host.clear();
  }

  static std::string modern_call(int id, const std::string& tool) {
    return request(id, "tools/call",
                   R"({"name":")" + tool +
                       R"(","arguments":{},"_meta":{)"
                       R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                       R"("io.modelcontextprotocol/clientCapabilities":{}}})");
  }
  void cell_runs(std::uint64_t id = 37) {
    cell().started(id, now_);
    cell().running(now_);
  }
  /// Up to where the bridge makes the call.
  void call_over_a_bridge(const std::string& tool) {
    host_says(modern_call(1, tool));
    cell_runs();
    ASSERT_EQ(last_method(), "initialize");
    cell_answers(R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
                 R"("serverInfo":{"name":"f","version":"1"}})");
  }
  void cell_refuses() {
    cell_says(R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() +
              R"(,"error":{"code":-32601,"message":"no"}})");
  }
  auto times_called() {
    return std::ranges::count_if(
        effects_.cell, [](const std::string& line) { return line.contains("tools/call"); });
  }
};

TEST_F(BridgedPins, TheListIsAskedForBeforeTheFirstCall) {
  call_over_a_bridge("read_a");
  ASSERT_EQ(last_method(), "tools/list");
  host_says(modern_call(2, "read_b"));
  EXPECT_EQ(times_called(), 0);
  cell_answers(listed("read_a", "Reads."));
  EXPECT_EQ(last_method(), "tools/call");
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "read_a");
  ASSERT_THAT(effects_.host, SizeIs(1));
  EXPECT_THAT(effects_.host.back(), HasSubstr("Unknown tool: read_b"));
  cell_answers(R"({"content":[]})");
  EXPECT_EQ(effects_.last_to_host()["id"], 1);
  host_says(modern_call(3, "read_a"));
  EXPECT_EQ(times_called(), 2) << "the list is known now";
}

TEST_F(BridgedPins, WhatIsNotListedIsNotCalledAndTheNextCallAsksAgain) {
  call_over_a_bridge("read_a");
  cell_refuses();
  EXPECT_EQ(times_called(), 0);
  ASSERT_THAT(effects_.host, SizeIs(1));
  EXPECT_EQ(effects_.last_to_host()["id"], 1);
  EXPECT_THAT(effects_.host.back(), HasSubstr("quarantined"));
  host_says(modern_call(2, "read_a"));
  ASSERT_EQ(last_method(), "tools/list");
  cell_answers(listed("read_a", "Reads."));
  EXPECT_EQ(times_called(), 1);
}

TEST_F(BridgedPins, WhatIsNotListedInTimeIsNotCalled) {
  call_over_a_bridge("read_a");
  ASSERT_EQ(last_method(), "tools/list");
  effects_.ring(now_);
  EXPECT_EQ(times_called(), 0);
  EXPECT_THAT(effects_.host.back(), HasSubstr("quarantined"));
}

TEST_F(BridgedPins, ACallThatIsCancelledWhileItWaitsForTheListIsNotMade) {
  call_over_a_bridge("read_a");
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,)"
            R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
  cell_answers(listed("read_a", "Reads."));
  EXPECT_EQ(times_called(), 0);
  EXPECT_THAT(effects_.host, IsEmpty());
}

TEST_F(BridgedPins, ACallThatWaitsForTheListFailsOnceWhenTheCellEnds) {
  call_over_a_bridge("read_a");
  cell().ended({.kind = EndKind::exited, .exit_code = 1}, now_);
  effects_.ring(now_);
  ASSERT_THAT(effects_.host, SizeIs(1));
  EXPECT_THAT(effects_.host.back(), HasSubstr("server_failed"));
}

TEST_F(BridgedPins, OfALegacyHostAtAModernServerAsWell) {
  config_.servers[0].era = ServerEra::modern;
  host_says(request(1, "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
  cell_runs();
  if (last_method() == "server/discover") {
    cell_answers(R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},)"
                 R"("serverInfo":{"name":"f","version":"1"},"resultType":"complete"})");
  }
  host_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  host_says(call(2, "read_a"));
  ASSERT_EQ(last_method(), "tools/list");
  EXPECT_EQ(times_called(), 0);
  cell_answers(R"({"tools":[{"name":"read_a","inputSchema":{"type":"object"}}],)"
               R"("resultType":"complete","ttlMs":0,"cacheScope":"private"})");
  EXPECT_EQ(times_called(), 1);
}

/// A modern host at a modern server, whose calls are made again when the cell crashes.
class RetriedPins : public BridgedPins {
 protected:
  RetriedPins() {
    session_.reset();
    policy_.reset();
    config_.servers[0].era = ServerEra::modern;
    config_.servers[0].calls.tools = {{.name = "read_a", .repeatable = Repeatable::yes}};
    attach(R"(,"start":"on_demand")");
    effects_.cell.clear();
    effects_.host.clear();
  }
};

TEST_F(RetriedPins, ACallThatWaitsForTheListOfCellAfterCellIsAnsweredOnce) {
  host_says(modern_call(2, "read_a"));
  cell_runs(37);
  cell_refuses();
  ASSERT_EQ(last_method(), "tools/call") << "of whom nobody knows more";
  cell().ended({.kind = EndKind::exited, .exit_code = 1}, now_);
  effects_.ring(now_);
  cell_runs(38);
  ASSERT_EQ(last_method(), "tools/list");
  cell_answers(R"({"tools":[{"name":"read_b","inputSchema":{"type":"object"}}],"nextCursor":"x",)"
               R"("resultType":"complete","ttlMs":0,"cacheScope":"private"})");
  ASSERT_EQ(last_method(), "tools/list") << "its next page";
  cell().ended({.kind = EndKind::exited, .exit_code = 1}, now_);
  effects_.ring(now_);
  cell_runs(39);
  cell_refuses();
  EXPECT_THAT(effects_.host, IsEmpty());
  ASSERT_EQ(last_method(), "tools/call");
  cell_answers(R"({"content":[],"resultType":"complete"})");
  ASSERT_THAT(effects_.host, SizeIs(1));
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  EXPECT_TRUE(effects_.last_to_host().contains("result"));
}

TEST_F(PinnedSession, RefusesArgumentsThatAreNotWhatTheSchemaSays) {
  host_says(request(1, "tools/list", "{}"));
  cell_answers(
      R"({"tools":[{"name":"read_a","inputSchema":{"type":"object","required":["path"]}}]})");
  const std::size_t asked = effects_.cell.size();
  host_says(call(2, "read_a"));
  EXPECT_THAT(effects_.host.back(), HasSubstr("invalid_arguments"));
  EXPECT_EQ(effects_.last_to_host()["result"]["isError"], true);
  EXPECT_THAT(effects_.cell, SizeIs(asked));
}

}  // namespace
}  // namespace cellblock::gateway::testing
