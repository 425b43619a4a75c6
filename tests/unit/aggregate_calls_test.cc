#include <chrono>

#include "supervisor/gateway/aggregate/aggregate.h"
#include "tests/unit/aggregate_rig.h"

namespace cellblock::gateway::testing {
namespace {

TestJson tool(const std::string& name) { return {{"name", name}}; }

class AggregateCalls : public ::testing::Test {
 protected:
  AggregateCalls() {
    const TestJson resources = items(TestJson{{"uri", "a:1"}, {"name", "one"}});
    const TestJson templates = items(TestJson{{"uriTemplate", "t:{x}"}, {"name", "many"}});
    const TestJson prompts = items(TestJson{{"name", "greet"}});
    rig_.ready(apps, catalogue_of(items(tool("open"), tool("a.b")), resources, templates, prompts));
    rig_.ready(files, catalogue_of(items(tool("open")), resources, templates, prompts));
  }

  /// Sends a call and gives what the server route hears.
  TestJson call(std::uint32_t server, const TestJson& message) {
    rig_.host(message);
    return rig_.asked(server);
  }
  static TestJson tool_call(const TestJson& id, const std::string& name) {
    return request(id, "tools/call", {{"name", name}, {"arguments", {{"x", 1}}}});
  }

  static constexpr std::uint32_t apps = 0;
  static constexpr std::uint32_t files = 1;
  AggregateRig rig_{{server_named("apps"), server_named("files", {"open", "read*"})}};
};

TEST_F(AggregateCalls, ReachTheirServerUnderTheOriginalNameAndComeBackUnderTheHostsId) {
  for (const TestJson& id : {TestJson(0), TestJson(""), TestJson("x"), TestJson(7)}) {
    TestJson message = tool_call(id, "files__open");
    message["params"]["_meta"]["traceparent"] = "00-abc";
    const TestJson asked = call(files, message);
    EXPECT_EQ(asked["method"], "tools/call");
    EXPECT_EQ(asked["params"]["name"], "open");
    EXPECT_EQ(asked["params"]["arguments"], (TestJson{{"x", 1}}));
    EXPECT_EQ(asked["params"]["_meta"]["traceparent"], "00-abc");
    EXPECT_EQ(asked["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    rig_.server_route(files, result(asked["id"], {{"content", TestJson::array()}}));
    EXPECT_EQ(rig_.said(), result(id, {{"content", TestJson::array()}}));
  }
  EXPECT_EQ(rig_.aggregate->in_flight(), 0U);
  EXPECT_TRUE(rig_.all_asked(apps).empty());
}

TEST_F(AggregateCalls, UnderAShortNameReachTheToolThatItStandsFor) {
  rig_.host(request(1, "tools/list"));
  const std::string shown = rig_.said()["result"]["tools"][1]["name"];
  EXPECT_EQ(call(apps, tool_call(2, shown))["params"]["name"], "a.b");
}

TEST(AggregateColdCalls, UnderAShortNameWaitUntilItIsKnownWhatItStandsFor) {
  AggregateRig known({server_named("apps")});
  known.ready(0, catalogue_of(items(tool("a.b"))));
  known.host(request(1, "tools/list"));
  const std::string shown = known.said()["result"]["tools"][0]["name"];

  AggregateRig rig({server_named("apps")});
  rig.host(request(1, "tools/call", {{"name", shown}}));
  EXPECT_EQ(rig.wanted.size(), 1U);
  rig.ready(0, catalogue_of(items(tool("a.b"))));
  EXPECT_EQ(rig.asked(0)["params"]["name"], "a.b");
}

TEST(AggregateColdCalls, UnderAPlainNameWaitForNoCatalogue) {
  AggregateRig rig({server_named("apps"), server_named("files")});
  rig.host(request(1, "tools/call", {{"name", "files__open"}}));
  EXPECT_EQ(rig.asked(1)["params"]["name"], "open");
  EXPECT_TRUE(rig.wanted.empty());
}

TEST_F(AggregateCalls, OfHiddenUnknownAndForeignToolsAreAnsweredWithTheSameBytes) {
  rig_.make_with_only(files);
  rig_.ready(files, catalogue_of(items(tool("open"), tool("hidden"))));
  const std::vector<std::string> names = {"files__hidden", "files__no_such", "apps__open",
                                          "nobody__open",  "open",           ""};
  for (const std::string& name : names) {
    rig_.host(tool_call(1, name));
    ASSERT_EQ(rig_.host_lines.size(), 1U) << name;
    EXPECT_EQ(rig_.host_lines[0],
              R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: )" + name +
                  R"("}})");
    rig_.host_lines.clear();
  }
  EXPECT_EQ(rig_.records.size(), names.size());
  EXPECT_EQ(rig_.records[0], "files hidden default");
  EXPECT_EQ(rig_.records[5], "nobody's  default");
  EXPECT_TRUE(rig_.route_lines.empty());
}

TEST_F(AggregateCalls, ForPromptsResourcesAndCompletionsReachTheServerThatHasThem) {
  EXPECT_EQ(call(files, request(1, "prompts/get", {{"name", "files__greet"}}))["params"]["name"],
            "greet");
  EXPECT_EQ(call(apps, request(2, "resources/read", {{"uri", "a:1"}}))["params"]["uri"], "a:1");
  const TestJson other = request(3, "resources/read", {{"uri", "cellblock://files/a:1"}});
  EXPECT_EQ(call(files, other)["params"]["uri"], "a:1");
  EXPECT_EQ(call(apps, request(4, "resources/read", {{"uri", "t:9"}}))["params"]["uri"], "t:9");

  TestJson completion = request(5, "completion/complete",
                                {{"ref", {{"type", "ref/prompt"}, {"name", "files__greet"}}},
                                 {"argument", {{"name", "n"}, {"value", "v"}}},
                                 {"_meta", {{"progressToken", "p"}}}});
  TestJson asked = call(files, completion);
  EXPECT_EQ(asked["params"]["ref"]["name"], "greet");
  EXPECT_EQ(asked["params"]["argument"]["value"], "v");
  EXPECT_EQ(asked["params"]["_meta"]["progressToken"], asked["id"]);
  completion["id"] = 6;
  completion["params"]["ref"] = {{"type", "ref/resource"}, {"uri", "cellblock://files/t:{x}"}};
  EXPECT_EQ(call(files, completion)["params"]["ref"]["uri"], "t:{x}");
  EXPECT_EQ(rig_.aggregate->in_flight(), 6U);
}

TEST(AggregateCompletions, WithoutAReferenceAreInvalidParamsWhateverServersListAndMention) {
  AggregateRig rig({server_named("evil")});
  const TestJson templates = items(TestJson{{"uriTemplate", "{?q}"}, {"name", "all"}});
  rig.ready(0, catalogue_of(items(tool("t")), TestJson::array(), templates));
  rig.host(request(1, "tools/call", {{"name", "evil__t"}}));
  const TestJson link = {{"type", "resource_link"}, {"uri", ""}, {"name", "x"}};
  rig.server_route(0, result(rig.asked(0)["id"], {{"content", items(link)}}));
  rig.all_said();
  const TestJson empty = {{"type", "ref/resource"}, {"uri", ""}};
  const TestJson none = {{"type", "ref/resource"}, {"uri", nullptr}};
  for (const TestJson& ref : {TestJson(), TestJson("text"), TestJson::array(), empty, none}) {
    rig.host(request(2, "completion/complete", {{"ref", ref}}));
    EXPECT_EQ(rig.said()["error"]["code"], -32602) << ref;
  }
  rig.host(request(2, "completion/complete"));
  EXPECT_EQ(rig.said()["error"]["code"], -32602);
  rig.host(request(2, "resources/read", {{"uri", "cellblock://evil/"}}));
  EXPECT_EQ(rig.said()["error"]["code"], -32602);
  EXPECT_TRUE(rig.all_asked(0).empty());
}

TEST(AggregateColdCalls, OfWhichTooManyBytesWouldWaitAreRefused) {
  AggregateRig rig({server_named("slow")});
  const std::string uri = "x:" + std::string(Waiting::max_bytes / 2, 'a');
  rig.host(request(1, "resources/read", {{"uri", uri}}));
  EXPECT_TRUE(rig.said().is_null());
  rig.host(request(2, "resources/read", {{"uri", uri}}));
  EXPECT_EQ(rig.said()["error"]["data"]["code"], "too_many");
  rig.host(request(3, "resources/read", {{"uri", "x:1"}}));
  EXPECT_TRUE(rig.said().is_null());
  EXPECT_EQ(rig.aggregate->in_flight(), 2U);
}

TEST(AggregateLogs, WithoutParamsStayMessagesThatAHostReads) {
  AggregateRig rig({server_named("evil")});
  rig.route_line(0, R"({"jsonrpc":"2.0","method":"notifications/message"})");
  EXPECT_EQ(rig.said()["params"], (TestJson{{"logger", "evil"}}));
}

TEST_F(AggregateCalls, ForWhatNobodyHasAreInvalidParams) {
  rig_.host(request(1, "resources/read", {{"uri", "zzz:1"}}));
  TestJson answer = rig_.said();
  EXPECT_EQ(answer["error"]["code"], -32602);
  EXPECT_EQ(answer["error"]["data"]["uri"], "zzz:1");
  rig_.host(request(2, "prompts/get", {{"name", "greet"}}));
  EXPECT_EQ(rig_.said()["error"]["code"], -32602);
  rig_.host(request(3, "completion/complete", {{"ref", {{"type", "ref/prompt"}, {"name", "x"}}}}));
  EXPECT_EQ(rig_.said()["error"]["code"], -32602);
  rig_.host(request(4, "completion/complete"));
  EXPECT_EQ(rig_.said()["error"]["code"], -32602);
  rig_.host(request(5, "tasks/get", {{"taskId", "no"}}));
  EXPECT_EQ(rig_.said()["error"]["code"], -32602);
  rig_.host(request(6, "no/such"));
  EXPECT_EQ(rig_.said()["error"]["code"], -32601);
  EXPECT_TRUE(rig_.route_lines.empty());
}

TEST_F(AggregateCalls, OfAnotherRevisionOrWithoutOneAreRefused) {
  TestJson message = tool_call(1, "files__open");
  message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2027-01-01";
  rig_.host(message);
  const TestJson answer = rig_.said();
  EXPECT_EQ(answer["error"]["code"], -32022);
  EXPECT_EQ(answer["error"]["data"]["supported"], items("2026-07-28"));
  message["params"].erase("_meta");
  rig_.host(message);
  EXPECT_EQ(rig_.said()["error"]["code"], -32602);
}

TEST_F(AggregateCalls, ShowWhatLiesElsewhereThanItWouldLead) {
  const TestJson asked = call(files, tool_call(1, "files__open"));
  const TestJson content = {{{"type", "resource_link"}, {"uri", "a:1"}, {"name", "n"}},
                            {{"type", "resource"}, {"resource", {{"uri", "new:1"}, {"text", ""}}}}};
  rig_.server_route(
      files, result(asked["id"], {{"content", content}, {"structuredContent", {{"uri", "a:1"}}}}));
  const TestJson said = rig_.said();
  EXPECT_EQ(said["result"]["content"][0]["uri"], "cellblock://files/a:1");
  EXPECT_EQ(said["result"]["content"][1]["resource"]["uri"], "new:1");
  EXPECT_EQ(said["result"]["structuredContent"]["uri"], "a:1");
  EXPECT_EQ(call(files, request(2, "resources/read", {{"uri", "new:1"}}))["params"]["uri"],
            "new:1");
}

TEST_F(AggregateCalls, ThatAskForInputNameTheServerOnceAndKeepTheirState) {
  TestJson asked = call(files, tool_call(1, "files__open"));
  TestJson answer = {
      {"inputRequests",
       {{"who", {{"method", "elicitation/create"}, {"params", {{"message", "Name?"}}}}},
        {"roots", {{"method", "roots/list"}}}}},
      {"requestState", "opaque"}};
  rig_.server_route(files, result(asked["id"], answer));
  TestJson said = rig_.said();
  EXPECT_EQ(said["id"], 1);
  const TestJson who = said["result"]["inputRequests"]["who"]["params"]["message"];
  EXPECT_EQ(who, "[server files] Name?");
  EXPECT_EQ(said["result"]["requestState"], "opaque");

  TestJson retry = tool_call(2, "files__open");
  retry["params"]["requestState"] = "opaque";
  retry["params"]["inputResponses"] = {{"who", {{"action", "accept"}}}};
  asked = call(files, retry);
  EXPECT_EQ(asked["params"]["requestState"], "opaque");
  EXPECT_EQ(asked["params"]["inputResponses"]["who"]["action"], "accept");
  answer["inputRequests"]["who"]["params"]["message"] = who;
  rig_.server_route(files, result(asked["id"], answer));
  EXPECT_EQ(rig_.said()["result"]["inputRequests"]["who"]["params"]["message"], who);
}

TEST_F(AggregateCalls, ThatBecomeTasksAreFoundAgainByTheirIds) {
  TestJson asked = call(files, tool_call(1, "files__open"));
  rig_.server_route(files, result(asked["id"], {{"taskId", "t1"}, {"status", "working"}}));
  const TestJson shown = rig_.said()["result"]["taskId"];
  EXPECT_EQ(shown, "files.t1");
  asked = call(files, request(2, "tasks/get", {{"taskId", shown}}));
  EXPECT_EQ(asked["params"]["taskId"], "t1");
}

TEST_F(AggregateCalls, HearTheirProgressUnderTheirOwnTokenUntilTheyEnd) {
  TestJson message = tool_call(1, "files__open");
  message["params"]["_meta"]["progressToken"] = "p";
  const TestJson asked = call(files, message);
  EXPECT_EQ(asked["params"]["_meta"]["progressToken"], asked["id"]);
  const TestJson progress =
      notification("notifications/progress", {{"progressToken", asked["id"]}, {"progress", 1}});
  rig_.server_route(apps, progress);
  EXPECT_TRUE(rig_.said().is_null()) << "another server's";
  rig_.server_route(files, progress);
  EXPECT_EQ(rig_.said()["params"]["progressToken"], "p");
  rig_.server_route(files, result(asked["id"], TestJson::object()));
  rig_.said();
  rig_.server_route(files, progress);
  EXPECT_TRUE(rig_.said().is_null());
}

TEST_F(AggregateCalls, AreNotAnsweredByAnotherServer) {
  const TestJson asked = call(files, tool_call(1, "files__open"));
  rig_.server_route(apps, result(asked["id"], TestJson::object()));
  EXPECT_TRUE(rig_.said().is_null());
  rig_.server_route(files, result(999, TestJson::object()));
  EXPECT_TRUE(rig_.said().is_null());
  EXPECT_EQ(rig_.aggregate->in_flight(), 1U);
}

TEST_F(AggregateCalls, ThatAreCancelledHearNothingMore) {
  const TestJson asked = call(files, tool_call("x", "files__open"));
  const TestJson cancel = notification("notifications/cancelled", {{"requestId", "x"}});
  rig_.host(cancel);
  const TestJson told = rig_.asked(files);
  EXPECT_EQ(told["method"], "notifications/cancelled");
  EXPECT_EQ(told["params"]["requestId"], asked["id"]);
  rig_.server_route(files, result(asked["id"], TestJson::object()));
  rig_.host(cancel);
  EXPECT_TRUE(rig_.said().is_null());
  EXPECT_TRUE(rig_.asked(files).is_null());
}

TEST_F(AggregateCalls, ThatWereAnsweredBeforeTheyWereCancelledAreLeftAlone) {
  const TestJson asked = call(files, tool_call(1, "files__open"));
  rig_.server_route(files, result(asked["id"], TestJson::object()));
  rig_.said();
  rig_.host(notification("notifications/cancelled", {{"requestId", 1}}));
  EXPECT_TRUE(rig_.asked(files).is_null());
  EXPECT_TRUE(rig_.said().is_null());
}

TEST_F(AggregateCalls, WithTheIdOfOneInFlightAreRefused) {
  call(files, tool_call(1, "files__open"));
  rig_.host(tool_call(1, "apps__open"));
  EXPECT_EQ(rig_.said()["error"]["code"], -32600);
  EXPECT_TRUE(rig_.asked(apps).is_null());
}

TEST_F(AggregateCalls, OfALegThatFailsAreAnsweredAndNoOthers) {
  call(files, tool_call(1, "files__open"));
  call(files, request(2, "prompts/get", {{"name", "files__greet"}}));
  const TestJson other = call(apps, tool_call(3, "apps__open"));
  rig_.aggregate->route_failed(files, AggregateRig::failure("it crashed"), rig_.now);
  const auto said = rig_.all_said();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["id"], 1);
  EXPECT_EQ(said[0]["result"]["isError"], true);
  EXPECT_EQ(said[1]["error"]["data"]["code"], "server_failed");
  rig_.server_route(apps, result(other["id"], TestJson::object()));
  EXPECT_EQ(rig_.said()["id"], 3);
  EXPECT_EQ(call(files, tool_call(4, "files__open"))["params"]["name"], "open");
}

TEST_F(AggregateCalls, OverTheirBoundAreRefused) {
  for (std::size_t i = 0; i < Aggregate::max_calls; ++i) rig_.host(tool_call(i, "files__open"));
  EXPECT_TRUE(rig_.said().is_null());
  rig_.host(tool_call("more", "files__open"));
  const TestJson said = rig_.said();
  EXPECT_EQ(said["result"]["isError"], true);
  EXPECT_EQ(said["result"]["_meta"]["cellblock/error"]["code"], "too_many");
}

TEST_F(AggregateCalls, AreAllAnsweredWhenTheSessionFailsAndCancelledWhenTheHostIsGone) {
  call(files, tool_call(1, "files__open"));
  rig_.aggregate->fail_all(AggregateRig::failure("over"), rig_.now);
  EXPECT_EQ(rig_.said()["id"], 1);
  EXPECT_EQ(rig_.aggregate->in_flight(), 0U);
  const TestJson asked = call(files, tool_call(2, "files__open"));
  rig_.aggregate->cancel_all("gone", rig_.now);
  EXPECT_EQ(rig_.asked(files)["params"]["requestId"], asked["id"]);
  EXPECT_TRUE(rig_.said().is_null());
}

TEST_F(AggregateCalls, HearWhichServerALogMessageIsFrom) {
  rig_.server_route(files, notification("notifications/message", {{"level", "info"}, {"data", 1}}));
  EXPECT_EQ(rig_.said()["params"]["logger"], "files");
  rig_.server_route(files, notification("notifications/message", {{"logger", "db"}, {"data", 1}}));
  EXPECT_EQ(rig_.said()["params"]["logger"], "files: db");
}

TEST_F(AggregateCalls, GetALargeResultWithTheSameBytes) {
  const TestJson asked = call(files, tool_call(1, "files__open"));
  const std::string rest = R"(,"result":{ "content":[{"type":"text","text":")" +
                           std::string(5U << 20, 'x') + R"("}],"n":1e2,"resultType":"complete"}})";
  rig_.route_line(files, R"({"jsonrpc":"2.0","id":)" + asked["id"].dump() + rest);
  ASSERT_EQ(rig_.host_lines.size(), 1U);
  EXPECT_TRUE(rig_.host_lines[0] == R"({"jsonrpc":"2.0","id":1)" + rest);
}

}  // namespace
}  // namespace cellblock::gateway::testing
