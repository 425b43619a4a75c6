#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "tests/unit/session_rig.h"

// What a session's server route decides: when a cell starts, and in which era it is spoken to.

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string modern(std::string_view id, std::string_view method, std::string_view more = "",
                   std::string_view version = "2026-07-28") {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) +
         R"(","params":{)" + std::string(more) +
         R"("_meta":{"io.modelcontextprotocol/protocolVersion":")" + std::string(version) +
         R"(","io.modelcontextprotocol/clientCapabilities":{}}}})";
}

constexpr std::string_view initialize =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"h","version":"1"}}})";

class ServerRouteTest : public SessionTest {
 protected:
  void attach_on_demand() { attach(R"(,"start":"on_demand")"); }
  void server_refuses(int code) {
    cell_says(R"({"jsonrpc":"2.0","id":)" + effects_.last_to_cell()["id"].dump() +
              R"(,"error":{"code":)" + std::to_string(code) + R"(,"message":"no"}})");
  }
  void is_known_as(Era era) {
    Catalogue known;
    known.era = era;
    known.server_info = R"({"name":"files","version":"1"})";
    known.capabilities = R"({"tools":{}})";
    known.lists[0] = R"([{"name":"read_a","inputSchema":{"type":"object"}},{"name":"write"}])";
    known.found_at_ms = 5;
    effects_.fake_catalogues.known = known;
    effects_.fake_catalogues.speaks.modern = era == Era::modern ? Speaks::yes : Speaks::no;
  }
};

TEST_F(ServerRouteTest, AnAttachOnDemandIsAnsweredAtOnceAndStartsNothing) {
  attach_on_demand();
  EXPECT_THAT(
      effects_.control,
      ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{"server":"files","session":"12"}})"));
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(ServerRouteTest, TheFirstMessageThatNeedsACellStartsItAndWaits) {
  attach_on_demand();
  host_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_THAT(effects_.did, IsEmpty());
  host_says(std::string(initialize));
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  host_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_THAT(effects_.cell, IsEmpty());
  cell_runs();
  ASSERT_EQ(effects_.cell.size(), 2U);
  EXPECT_EQ(Json::parse(effects_.cell[0])["method"], "initialize");
  EXPECT_EQ(Json::parse(effects_.cell[1])["method"], "notifications/initialized");
}

TEST_F(ServerRouteTest, ACallThatTheRulesRefuseStartsNoCellAndIsRecorded) {
  attach_on_demand();
  effects_.notes.clear();
  host_says(modern("3", "tools/call", R"("name":"write_a","arguments":{},)"));
  EXPECT_THAT(effects_.did, IsEmpty());
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32602);
  EXPECT_THAT(effects_.notes,
              ElementsAre(std::pair(wire::AuditKind::call, wire::AuditOutcome::denied)));
}

TEST_F(ServerRouteTest, APingNeedsNoCell) {
  attach_on_demand();
  host_says(R"({"jsonrpc":"2.0","id":"","method":"ping"})");
  EXPECT_EQ(effects_.host.back(), R"({"jsonrpc":"2.0","id":"","result":{}})");
  host_says(modern("2", "ping"));
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32601);
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(ServerRouteTest, AStartThatFailsIsTheAnswerToWhatNeededIt) {
  attach_on_demand();
  host_says(std::string(initialize));
  cell().refused(wire::StartRefusal::too_many_cells, {}, now_);
  EXPECT_EQ(effects_.last_to_host()["id"], 0);
  EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "too_many");
  EXPECT_EQ(effects_.deadline, Milliseconds{0});
}

TEST_F(ServerRouteTest, EveryModernRequestIsHeldToItsOwnVersionAndCapabilities) {
  attach_and_run();
  host_says(modern("1", "tools/list", "", "2027-01-01"));
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32022);
  EXPECT_EQ(effects_.last_to_host()["error"]["data"],
            Json::parse(R"({"supported":["2026-07-28"],"requested":"2027-01-01"})"));
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{)"
            R"("io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32602);
  host_says(R"({"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{)"
            R"("io.modelcontextprotocol/protocolVersion":7}}})");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32602);
  host_says(R"({"jsonrpc":"2.0","id":4,"method":"server/discover"})");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32602);
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST_F(ServerRouteTest, DiscoverIsAnsweredFromTheCatalogueAndPinsNothing) {
  is_known_as(Era::modern);
  attach_on_demand();
  host_says(modern(R"("d")", "server/discover"));
  const Json result = effects_.last_to_host()["result"];
  EXPECT_EQ(result["supportedVersions"], Json::parse(R"(["2026-07-28"])"));
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_THAT(effects_.did, IsEmpty());
  host_says(std::string(initialize));
  cell_runs();
  EXPECT_EQ(effects_.last_to_cell()["method"], "initialize");
}

TEST_F(ServerRouteTest, DiscoverWaitsForASurveyAndHearsWhyItFailed) {
  attach_on_demand();
  host_says(modern("1", "server/discover"));
  host_says(modern("2", "server/discover"));
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(effects_.fake_catalogues.waiting.size(), 1U);
  Failure failure;
  failure.code = FailureCode::server_failed;
  failure.message = "it crashed";
  effects_.fake_catalogues.tell(failure);
  ASSERT_EQ(effects_.host.size(), 2U);
  EXPECT_EQ(effects_.last_to_host()["error"]["message"], "it crashed");
}

TEST_F(ServerRouteTest, ListsNeedNoCellAndShowOnlyWhatMayBeUsed) {
  is_known_as(Era::legacy);
  attach_on_demand();
  host_says(modern("1", "tools/list"));
  const Json result = effects_.last_to_host()["result"];
  ASSERT_EQ(result["tools"].size(), 1U);
  EXPECT_EQ(result["tools"][0]["name"], "read_a");
  EXPECT_EQ(result["_meta"]["cellblock/cached"]["found_at_ms"], 5);
  EXPECT_EQ(result["cacheScope"], "private");
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(ServerRouteTest, AModernHostReachesALegacyServerOverABridge) {
  is_known_as(Era::legacy);
  attach_on_demand();
  host_says(modern("7", "tools/call", R"("name":"read_a","arguments":{},)"));
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  cell_runs();
  EXPECT_EQ(effects_.last_to_cell()["method"], "initialize");
  server_answers(
      R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}})");
  const Json call = effects_.last_to_cell();
  EXPECT_EQ(call["method"], "tools/call");
  EXPECT_FALSE(call["params"].contains("_meta")) << call;
  server_answers(R"({"content":[]})");
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  EXPECT_EQ(effects_.last_to_host()["result"]["resultType"], "complete");
}

TEST_F(ServerRouteTest, AHiddenToolIsUnknownBehindABridgeAsWell) {
  is_known_as(Era::legacy);
  attach_on_demand();
  host_says(modern("6", "tools/call", R"("name":"read_a","arguments":{},)"));
  cell_runs();
  server_answers(
      R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}})");
  host_says(modern("7", "tools/call", R"("name":"write","arguments":{},)"));
  EXPECT_EQ(effects_.last_to_host()["error"],
            Json::parse(R"({"code":-32602,"message":"Unknown tool: write"})"));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call, AuditOutcome::denied)));
}

TEST_F(ServerRouteTest, AServerThatRefusesInitializeIsBridgedInAFreshCell) {
  attach_on_demand();
  host_says(std::string(initialize));
  cell_runs();
  server_refuses(-32022);
  EXPECT_THAT(effects_.host, IsEmpty());
  ASSERT_EQ(effects_.cells.size(), 2U);
  EXPECT_EQ(effects_.fake_catalogues.speaks.legacy, Speaks::no);
  cell().started(38, now_);
  cell().running(now_);
  EXPECT_EQ(effects_.last_to_cell()["method"], "server/discover");
  server_answers(
      R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{}})");
  EXPECT_EQ(effects_.last_to_host()["id"], 0);
  EXPECT_EQ(effects_.last_to_host()["result"]["protocolVersion"], "2025-11-25");
}

TEST_F(ServerRouteTest, WhatWasAskedBehindARefusedInitializeFailsAndIsNotAskedAgain) {
  attach_on_demand();
  host_says(std::string(initialize));
  cell_runs();
  const std::string refused = effects_.last_to_cell()["id"].dump();
  host_says(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_a"}})");
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  cell_says(R"({"jsonrpc":"2.0","id":)" + refused + R"(,"error":{"code":-32601,"message":"no"}})");
  ASSERT_EQ(effects_.host.size(), 2U);
  for (const std::string& line : effects_.host) {
    const Json said = Json::parse(line);
    EXPECT_NE(said["id"], 0);
    EXPECT_TRUE(said["id"] == 1 ? said["result"]["isError"] == true
                                : said["error"]["data"]["code"] == "bad_answer")
        << line;
  }
  cell().started(38, now_);
  cell().running(now_);
  EXPECT_EQ(effects_.last_to_cell()["method"], "server/discover");
}

TEST_F(ServerRouteTest, AServerThatHasAgreedOnceIsNotStartedAgainForALaterRefusal) {
  attach_on_demand();
  host_says(std::string(initialize));
  cell_runs();
  server_answers(R"({"protocolVersion":"2025-11-25","capabilities":{}})");
  host_says(std::string(initialize));
  server_refuses(-32601);
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32601);
  EXPECT_EQ(effects_.cells.size(), 1U);
}

TEST_F(ServerRouteTest, NothingIsLearntForOthersFromACellWithAWorkspace) {
  config_.servers[0].workspace.emplace();
  for (const bool has_workspace : {true, false}) {
    session_.reset();
    attach(has_workspace ? R"(,"start":"on_demand","workspace":true)" : R"(,"start":"on_demand")");
    is_known_as(Era::legacy);
    host_says(std::string(initialize));
    cell_runs();
    server_answers(R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}}})");
    ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
    server_answers(R"({"tools":[]})");
    cell_says(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    EXPECT_EQ(effects_.fake_catalogues.learnt == 0, has_workspace);
    EXPECT_EQ(effects_.fake_catalogues.changed.empty(), has_workspace);
  }
}

struct Above final : ServerRouteEffects {
  void to_host(Slices) override {}
  void route_running(Time) override {}
  void route_lost(const Failure&, After, Time) override {}
  void route_answered(Time) override {}
};

// Else a server that announces without end would rewrite what is kept of it as often.
TEST_F(ServerRouteTest, ListsThatTheAggregateAsksForAgainAreNotLearnt) {
  is_known_as(Era::modern);
  Above above;
  const SessionAccess access(config_, subject_of({}, {1000, 1000, {}}));
  for (const RouteOf of : {RouteOf::all_servers, RouteOf::one_server}) {
    ServerRoute server_route({.shared = {config_, ids_, scanner_, sealer_, policy()},
                              .access = access,
                              .plan = {.server = 0, .purpose = "aggregate"},
                              .session = 12,
                              .start = StartWhen::on_demand,
                              .of = of},
                             effects_, above);
    const auto asks = [&](std::string line) {
      const std::size_t size = line.size();
      line.resize(size + MessageScanner::padding);
      const auto view = std::string_view(line).substr(0, size);
      const auto message = scanner_.scan(view);
      ASSERT_TRUE(message);
      server_route.from_host(view, *message, now_);
    };
    asks(modern("1", "tools/call", R"("name":"read_a",)"));
    cell_runs();
    server_answers(R"({"content":[]})");
    asks(modern("2", "tools/list"));
    server_answers(R"({"tools":[{"name":"read_b"}]})");
    EXPECT_EQ(effects_.fake_catalogues.learnt, of == RouteOf::one_server ? 1 : 0);
    server_route.leave();
  }
}

TEST_F(ServerRouteTest, AnotherErrorOfInitializeIsTheHostsToHear) {
  attach_on_demand();
  host_says(std::string(initialize));
  cell_runs();
  server_refuses(-32603);
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32603);
  EXPECT_EQ(effects_.cells.size(), 1U);
}

TEST_F(ServerRouteTest, AHostHearsThatTheDeclaredEraIsNotTheServers) {
  for (const ServerEra era : {ServerEra::legacy, ServerEra::modern}) {
    for (const Era host : {Era::legacy, Era::modern}) {
      // A modern host's first request says nothing of the era of a server declared to be modern.
      if (host == Era::modern && era == ServerEra::modern) continue;
      config_.servers[0].era = era;
      session_.reset();
      attach_on_demand();
      const std::size_t cells = effects_.cells.size();
      host_says(host == Era::legacy ? std::string(initialize)
                                    : modern("1", "resources/read", R"("uri":"a:b",)"));
      cell_runs();
      server_refuses(-32601);
      const auto error = effects_.last_to_host()["error"];
      EXPECT_EQ(error["data"]["code"], "server_failed") << error;
      EXPECT_THAT(
          error["message"].get<std::string>(),
          ::testing::HasSubstr(std::string("refused ") +
                               (era == ServerEra::legacy ? "initialize" : "server/discover") +
                               " (-32601), but [server.files] says era = "));
      EXPECT_EQ(effects_.cells.size(), cells + 1) << "nothing else is tried";
    }
  }
}

TEST_F(ServerRouteTest, ACancellationGoesToTheCellOfTheCallThatItNames) {
  is_known_as(Era::modern);
  attach_on_demand();
  host_says(modern("8", "tools/call", R"("name":"read_a","arguments":{},)"));
  cell_runs();
  const Json of_modern = effects_.last_to_cell()["id"];
  host_says(std::string(initialize));
  cell_runs();
  server_answers(
      R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"f","version":"1"}})");
  const Json of_legacy = Json::parse(
      ask(R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"read_a"}})"));
  for (const auto& [theirs, ours] : {std::pair("8", of_modern), std::pair("9", of_legacy)}) {
    host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
              std::string(theirs) + "}}");
    EXPECT_EQ(effects_.last_to_cell()["method"], "notifications/cancelled");
    EXPECT_EQ(effects_.last_to_cell()["params"]["requestId"], ours);
  }
}

TEST_F(ServerRouteTest, AModernHostOutlivesTheCellAndTheNextCallStartsAnother) {
  is_known_as(Era::modern);
  attach_on_demand();
  host_says(modern("1", "tools/call", R"("name":"read_a",)"));
  cell_runs();
  cell().ended({}, now_);
  EXPECT_EQ(effects_.last_to_host()["result"]["isError"], true);
  host_says(modern("2", "tools/call", R"("name":"read_a",)"));
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "start_cell"));
}

TEST_F(ServerRouteTest, ALegacySessionEndsWithTheCellThatKnewIt) {
  attach_on_demand();
  host_says(std::string(initialize));
  cell_runs();
  cell().ended({}, now_);
  EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "server_failed");
  session().deadline(now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(ServerRouteTest, BothErasOnOneConnectionHaveACellEach) {
  is_known_as(Era::modern);
  attach_on_demand();
  host_says(modern("1", "resources/read", R"("uri":"a:b",)"));
  cell_runs();
  EXPECT_EQ(effects_.last_to_cell()["method"], "resources/read");
  host_says(std::string(initialize));
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "start_cell"));
  session().host_ended(HostEnd::gone, now_);
  EXPECT_THAT(effects_.did, Contains("close_cell_input"));
}

TEST_F(ServerRouteTest, AServersWordThatAListHasChangedReachesTheCatalogues) {
  attach_and_run();
  cell_says(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  EXPECT_THAT(effects_.fake_catalogues.changed, ElementsAre(ListKind::tools));
}

TEST_F(ServerRouteTest, NoMoreIsHeldThanThereIsRoomFor) {
  attach_on_demand();
  for (int i = 0; i < 300; ++i) {
    host_says(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"resources/list"})");
  }
  EXPECT_EQ(effects_.host.size(), 44U);
  EXPECT_THAT(effects_.host.back(), HasSubstr("too_many"));
}

}  // namespace
}  // namespace cellblock::gateway::testing
