#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/search/find_answer.h"
#include "supervisor/gateway/search/listed_tools.h"
#include "supervisor/gateway/search/search_route.h"
#include "supervisor/gateway/search/search_tools.h"
#include "tests/unit/session_rig.h"

// A session whose host finds tools by search: what it is listed, what is found and what is called.

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* three_tools =
    R"({"tools":[{"name":"read_a","description":"Reads a.","inputSchema":{"type":"object"}},)"
    R"({"name":"read_b","description":"Reads b.","inputSchema":{"type":"object"}},)"
    R"({"name":"write_a","description":"Writes a.","inputSchema":{"type":"object"}}]})";

class ToolSearch : public SessionTest {
 protected:
  ToolSearch() {
    Server& server = config_.servers[0];
    server.lines.from_host = server.lines.to_host = 1U << 20;
    effects_.room = 8U << 20;
  }

  void begin() {
    attach_and_run(R"(,"tools":"search")");
    effects_.host.clear();
    effects_.cell.clear();
    effects_.notes.clear();
  }
  void list(int id) {
    host_says(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/list"})");
  }
  void call_own(int id, std::string_view name, std::string_view arguments) {
    host_says(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
              R"(,"method":"tools/call","params":{"name":")" + std::string(name) +
              R"(","arguments":)" + std::string(arguments) + "}}");
  }
  void find(int id, std::string_view words) {
    call_own(id, finding_tool_name, R"({"words":")" + std::string(words) + R"("})");
  }
  void call(int id, std::string_view tool) {
    call_own(id, calling_tool_name,
             R"({"name":")" + std::string(tool) + R"(","arguments":{"x":1}})");
  }
  std::vector<std::string> names_in(const Json& tools) {
    std::vector<std::string> names;
    for (const Json& tool : tools) names.push_back(tool["name"]);
    return names;
  }
  std::vector<std::string> found() {
    return names_in(effects_.last_to_host()["result"]["structuredContent"]["tools"]);
  }
  std::string code() {
    const Json answer = effects_.last_to_host();
    return answer["result"]["_meta"].value("cellblock/error", Json::object()).value("code", "none");
  }
};

TEST_F(ToolSearch, ListsTwoToolsInPlaceOfAll) {
  begin();
  list(2);
  server_answers(three_tools);
  const Json answer = effects_.last_to_host();
  EXPECT_EQ(answer["id"], 2);
  EXPECT_THAT(names_in(answer["result"]["tools"]),
              ElementsAre(finding_tool_name, calling_tool_name));
}

TEST_F(ToolSearch, ListsWhatIsAlwaysListedAsItself) {
  config_.servers[0].always_listed = {{"read_a", false}, {"write_", true}};
  begin();
  list(2);
  server_answers(three_tools);
  const Json tools = effects_.last_to_host()["result"]["tools"];
  // write_a is under a pattern, and no rule gives it.
  EXPECT_THAT(names_in(tools), ElementsAre("read_a", finding_tool_name, calling_tool_name));
  EXPECT_EQ(tools[0]["description"], "Reads a.");
}

TEST_F(ToolSearch, TakesAllPagesAndShowsOne) {
  begin();
  list(2);
  server_answers(R"({"tools":[{"name":"read_a","inputSchema":{}}],"nextCursor":"p2"})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_TRUE(effects_.last_to_cell()["params"].contains("cursor"));
  server_answers(R"({"tools":[{"name":"read_b","inputSchema":{}}],"_meta":{"x":1}})");
  const Json result = effects_.last_to_host()["result"];
  EXPECT_FALSE(result.contains("nextCursor"));
  EXPECT_EQ(result["_meta"]["x"], 1);
  effects_.host.clear();
  host_says(R"({"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"p2"}})");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32602);
}

TEST_F(ToolSearch, FindsWhatTheUserMayUseAndNothingElse) {
  begin();
  find(2, "reads a");
  server_answers(three_tools);
  EXPECT_THAT(found(), ElementsAre("read_a", "read_b"));
  const Json result = effects_.last_to_host()["result"];
  EXPECT_EQ(Json::parse(result["content"][0]["text"].get<std::string>()),
            result["structuredContent"]);
  EXPECT_EQ(result["structuredContent"]["searched"], 2);
  EXPECT_TRUE(result["structuredContent"]["tools"][0].contains("inputSchema"));
  find(3, "write_a");
  server_answers(three_tools);
  EXPECT_THAT(found(), Not(Contains("write_a")));
}

TEST_F(ToolSearch, IsRecordedAsACallOfItsOwn) {
  begin();
  effects_.holds_records = true;
  find(2, "reads");
  EXPECT_THAT(effects_.notes, ElementsAre(std::pair(AuditKind::call, AuditOutcome::ok)));
  EXPECT_THAT(effects_.cell, IsEmpty());
  for (WhenRecorded& then : std::exchange(effects_.unrecorded, {}))
    then(AuditState::writable, now_);
  server_answers(three_tools);
  EXPECT_EQ(effects_.notes.back(), std::pair(AuditKind::call_ended, AuditOutcome::ok));
}

TEST_F(ToolSearch, IsRefusedWhereNothingCanBeRecorded) {
  begin();
  effects_.holds_records = true;
  find(2, "reads");
  for (WhenRecorded& then : std::exchange(effects_.unrecorded, {})) then(AuditState::broken, now_);
  EXPECT_EQ(code(), "audit_unavailable");
  effects_.audit = AuditState::broken;
  find(3, "reads");
  EXPECT_EQ(code(), "audit_unavailable");
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST_F(ToolSearch, CallsTheToolUnderItsOwnName) {
  begin();
  call(2, "read_a");
  const Json sent = effects_.last_to_cell();
  EXPECT_EQ(sent["method"], "tools/call");
  EXPECT_EQ(sent["params"]["name"], "read_a");
  EXPECT_EQ(sent["params"]["arguments"], Json::parse(R"({"x":1})"));
  server_answers(R"({"content":[{"type":"text","text":"done"}]})");
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  EXPECT_EQ(effects_.last_to_host()["result"]["content"][0]["text"], "done");
}

TEST_F(ToolSearch, AnswersADeniedToolAsOneThatDoesNotExist) {
  begin();
  call(2, "write_a");
  const Json denied = effects_.last_to_host();
  call(3, "nothing");
  const Json unknown = effects_.last_to_host();
  EXPECT_EQ(denied["error"]["code"], unknown["error"]["code"]);
  EXPECT_THAT(denied["error"]["message"].get<std::string>(), HasSubstr("write_a"));
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call, AuditOutcome::denied)));
}

TEST_F(ToolSearch, WaitsForAnApprovalWhereARuleAsks) {
  Rule ask{.name = "rule[1]", .effect = Effect::ask};
  ask.binds_everybody = true;
  ask.tools = {{"read_b", false}};
  config_.servers[0].rules.push_back(ask);
  begin();
  call(2, "read_b");
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(policy().approvals.entries().size(), 1U);
  call(3, "read_a");
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "read_a");
  find(4, "read");
  server_answers(three_tools);
  EXPECT_THAT(found(), Contains("read_b"));
}

TEST_F(ToolSearch, StillTakesACallByTheToolsName) {
  begin();
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a"}})");
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "read_a");
}

TEST_F(ToolSearch, SaysWhatIsWrongWithItsArguments) {
  begin();
  for (const char* arguments : {R"({})", R"({"words":""})", R"({"words":1})",
                                R"({"words":"a","limit":0})", R"({"words":"a","limit":21})",
                                R"({"words":"a","limit":"5"})", R"({"words":"a","more":1})"}) {
    call_own(2, finding_tool_name, arguments);
    EXPECT_EQ(code(), "invalid_arguments") << arguments;
  }
  for (const char* arguments :
       {R"({})", R"({"name":""})", R"({"name":1})", R"({"name":"read_a","arguments":"{}"})",
        R"({"name":"read_a","arguments":[]})", R"({"name":"read_a","more":1})",
        R"({"name":"cellblock_call_tool"})", R"({"name":"cellblock_find_tools"})"}) {
    call_own(2, calling_tool_name, arguments);
    EXPECT_EQ(code(), "invalid_arguments") << arguments;
    EXPECT_THAT(effects_.host.back(), HasSubstr("allowed: ")) << arguments;
  }
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST_F(ToolSearch, DropsTheAnswerOfASearchThatWasTakenBack) {
  begin();
  find(2, "reads");
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  server_answers(three_tools);
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(effects_.notes.back(), std::pair(AuditKind::call_ended, AuditOutcome::cancelled));
}

TEST_F(ToolSearch, AnswersWhatIsInFlightWhenTheServerEnds) {
  begin();
  find(2, "reads");
  list(3);
  cell().ended({.kind = EndKind::exited, .exit_code = 1}, now_);
  ASSERT_EQ(effects_.host.size(), 2U);
  for (const std::string& line : effects_.host) {
    EXPECT_THAT(line, Not(HasSubstr("cellblock-list-")));
  }
}

TEST_F(ToolSearch, RefusesIdsThatAreItsOwnOrInFlight) {
  begin();
  host_says(R"({"jsonrpc":"2.0","id":"cellblock-list-1","method":"tools/list"})");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32600);
  list(2);
  effects_.host.clear();
  call(2, "read_a");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32600);
}

TEST_F(ToolSearch, HasSoManyInFlightAtTheMost) {
  begin();
  const int most = SearchRoute::max_listings;
  for (int id = 0; id < most; ++id) list(2 + id);
  EXPECT_THAT(effects_.host, IsEmpty());
  list(2 + most);
  EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "too_many");
  find(3 + most, "reads");
  EXPECT_EQ(code(), "too_many");
}

TEST_F(ToolSearch, EndsAListThatHoldsMuchWhereAllSessionsHoldTooMuch) {
  config_.servers[0].lines.to_host = 4U << 20;
  begin();
  HeldBytes& lists = policy().lists;
  HeldBytes::Part of_other_sessions(lists);
  of_other_sessions.set(lists.most());
  find(2, "reads");
  server_answers(R"({"tools":[{"name":"read_a","description":"small"}],"nextCursor":"p2"})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_GT(lists.total(), lists.most());
  std::string tools;
  for (int i = 0; i < 1'500; ++i) {
    tools += fmt::format(R"(,{{"name":"read_{}","description":"{}"}})", i, std::string(1'500, 'd'));
  }
  server_answers(R"({"tools":[)" + tools.substr(1) + R"(],"nextCursor":"p3"})");
  EXPECT_EQ(code(), "too_many");
  EXPECT_EQ(effects_.notes.back(), std::pair(AuditKind::call_ended, AuditOutcome::error));
  EXPECT_EQ(lists.total(), lists.most());
}

TEST_F(ToolSearch, HoldsNothingOfAListThatIsOver) {
  begin();
  for (int id = 2; id < 4; ++id) {
    find(id, "reads");
    server_answers(R"({"tools":[{"name":"read_a"}],"nextCursor":"p2"})");
    EXPECT_GT(policy().lists.total(), 0U);
    if (id == 2) server_answers(three_tools);
  }
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}})");
  EXPECT_EQ(policy().lists.total(), 0U);
}

TEST_F(ToolSearch, WaitsForTheRecordOfASearchThatHasTheIdOfOneTakenBack) {
  begin();
  effects_.holds_records = true;
  find(2, "reads");
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  find(2, "reads");
  const std::vector<WhenRecorded> records = std::exchange(effects_.unrecorded, {});
  ASSERT_EQ(records.size(), 2U);
  records[0](AuditState::writable, now_);
  EXPECT_THAT(effects_.cell, IsEmpty());
  records[1](AuditState::writable, now_);
  EXPECT_THAT(effects_.cell, SizeIs(1));
}

TEST_F(ToolSearch, IsNotThereWhereTheHostDoesNotChooseIt) {
  attach_and_run(R"(,"tools":"all")");
  list(2);
  server_answers(three_tools);
  EXPECT_THAT(names_in(effects_.last_to_host()["result"]["tools"]),
              ElementsAre("read_a", "read_b"));
}

TEST(ListedTools, ShowsTheToolThatReadsOnOnlyWhereItIsCellblocks) {
  const auto shown = [](const std::string& tool) {
    ListedTools listed;
    listed.take(R"({"tools":[)" + tool + "]}");
    return listed.shown([](std::string_view) { return true; }, {});
  };
  EXPECT_THAT(shown(R"({"name":"cellblock_read_result","description":"The server's."})"),
              Not(HasSubstr(reading_tool_name)));
  EXPECT_THAT(shown(std::string(reading_tool())), HasSubstr(reading_tool_name));
  // A list that was made of a tree, for a host of the other era, has it in the same text.
  EXPECT_EQ(text_of(parse_json(reading_tool())), reading_tool());
}

TEST(ListedTools, LeavesOutServersToolsWithCellblocksNames) {
  ListedTools listed;
  EXPECT_EQ(listed.take(R"({"tools":[{"name":"cellblock_find_tools"},{"name":"a"},{"x":1}]})"),
            std::nullopt);
  ASSERT_EQ(listed.tools().size(), 1U);
  EXPECT_EQ(listed.tools()[0].document.name, "a");
}

TEST(ListedTools, EndsWithAServerThatNeverDoes) {
  ListedTools listed;
  std::size_t pages = 1;
  while (listed.take(R"({"tools":[{"name":"a"}],"nextCursor":"on"})")) ++pages;
  EXPECT_EQ(pages, ListedTools::max_pages);
  EXPECT_TRUE(listed.is_cut());
}

TEST(FindResult, NamesWhatHasNoRoomAndKeepsItsBound) {
  ListedTools listed;
  std::string tools;
  for (int i = 0; i < 20; ++i) {
    tools +=
        (i == 0 ? "" : ",") + (R"({"name":"read_)" + std::to_string(i) + R"(","description":")" +
                               std::string(10'000, 'd') + R"(","inputSchema":{"title":")" +
                               std::string(5'000, 's') + R"("}})");
  }
  listed.take(R"({"tools":[)" + tools + "]}");
  const std::string result =
      find_result({.words = "read", .limit = 20}, listed, ListOf::one_server, Era::legacy);
  const Json found = Json::parse(result)["structuredContent"]["tools"];
  ASSERT_EQ(found.size(), 20U);
  EXPECT_TRUE(found[0].contains("inputSchema"));
  EXPECT_LE(found[0]["description"].get<std::string>().size(), max_found_description + 3);
  EXPECT_FALSE(found[19].contains("inputSchema"));
  EXPECT_GT(found[19]["definition_bytes"], 15'000);
  EXPECT_LE(found.dump().size(), max_found_bytes + 20 * 100);
}

TEST(FindResult, SaysWhereNotAllTermsWereCounted) {
  std::string text;
  while (text.size() < max_searched_description) text += "a1";
  const std::string tool = R"({"name":"read","description":")" + text +
                           R"(","inputSchema":{"properties":{"a":{"description":")" + text +
                           R"("}}}})";
  std::string tools = tool;
  for (int i = 1; i < 400; ++i) tools += "," + tool;
  ListedTools listed;
  listed.take(R"({"tools":[)" + tools + "]}");
  EXPECT_FALSE(listed.is_cut());
  const Json found =
      Json::parse(find_result({.words = "read"}, listed, ListOf::one_server, Era::legacy));
  EXPECT_EQ(found["structuredContent"]["is_cut"], true);
}

TEST(FindResult, SaysWhichServersAreMissing) {
  ListedTools listed;
  listed.take(
      R"({"tools":[],"_meta":{"cellblock/unavailable":[{"server":"git","reason":"x","brief":"it failed"}]}})");
  const Json found =
      Json::parse(find_result({.words = "commit"}, listed, ListOf::all_servers, Era::modern));
  EXPECT_EQ(found["structuredContent"]["unavailable"],
            Json::parse(R"([{"server":"git","reason":"it failed"}])"));
  EXPECT_EQ(found["resultType"], "complete");
  EXPECT_TRUE(found["structuredContent"].contains("advice"));
  // Of one server it would be that server's word about others.
  EXPECT_THAT(find_result({.words = "commit"}, listed, ListOf::one_server, Era::modern),
              Not(HasSubstr("unavailable")));
}

TEST(FindResult, KeepsNumbersOfASchemaAsTheyWereWritten) {
  ListedTools listed;
  listed.take(
      R"({"tools":[{"name":"a","inputSchema":{"maximum":1.0e2,"x":12345678901234567890}}]})");
  EXPECT_THAT(find_result({.words = "a"}, listed, ListOf::one_server, Era::legacy),
              HasSubstr(R"("inputSchema":{"maximum":1.0e2,"x":12345678901234567890})"));
}

}  // namespace
}  // namespace cellblock::gateway::testing
