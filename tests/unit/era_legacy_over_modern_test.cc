#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/translate/legacy_over_modern.h"
#include "tests/unit/era_rig.h"

namespace cellblock::gateway {
namespace {

constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";
constexpr const char* capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* client_key = "io.modelcontextprotocol/clientInfo";
constexpr const char* level_key = "io.modelcontextprotocol/logLevel";
constexpr const char* server_key = "io.modelcontextprotocol/serverInfo";
constexpr const char* stream_key = "io.modelcontextprotocol/subscriptionId";

const Tree nothing = Tree::object();

/// A host that says `initialize`, a modern server, and the bridge between them.
class LegacyOverModernTest : public testing::Test, public BridgeRig {
 protected:
  LegacyOverModernTest()
      : bridge_(BridgedServer{"web", {.roots = true, .sampling = true, .elicitation = true}},
                *this) {}

  void ask(const Tree& id, std::string_view method, Tree params = {}) {
    from_host(bridge_, request(id, method, std::move(params)));
  }
  void server_says(const std::string& text) { from_server(bridge_, text); }

  // What the host is answered with.
  Tree introduced(std::string_view version = "2025-11-25", const Tree& server_can = nothing) {
    ask("init", "initialize",
        {{"protocolVersion", version},
         {"capabilities",
          {{"elicitation", {{"form", nothing}, {"url", nothing}}},
           {"roots", {{"listChanged", true}}},
           {"tasks", nothing}}},
         {"clientInfo", {{"name", "host"}, {"version", "1"}}}});
    const Tree discover = server();
    EXPECT_EQ(discover["method"], "server/discover");
    server_says(
        result(discover["id"], {{"supportedVersions", {"2026-07-28"}},
                                {"capabilities", server_can},
                                {"instructions", "be kind"},
                                {"resultType", "complete"},
                                {"_meta", {{server_key, {{"name", "new"}, {"version", "4"}}}}}}));
    return host();
  }
  // A call that has got to the server; the request there.
  Tree call(const Tree& id, Tree params = {{"name", "ask"}}) {
    ask(id, "tools/call", std::move(params));
    return server();
  }
  void ask_for(const Tree& ours, Tree questions, const Tree& state = "s1") {
    Tree answer{{"resultType", "input_required"}, {"requestState", state}};
    if (!questions.is_null()) answer["inputRequests"] = std::move(questions);
    server_says(result(ours, answer));
  }

  LegacyOverModern bridge_;
};

const Tree name_question{
    {"method", "elicitation/create"},
    {"params", {{"message", "Your name?"}, {"requestedSchema", nothing}, {"mode", "form"}}}};

// --- hands -----------------------------------------------------------------------------------

TEST_F(LegacyOverModernTest, InitializeIsAnsweredFromDiscover) {
  const Tree said = introduced("2025-06-18", {{"tools", {{"listChanged", true}}},
                                              {"tasks", nothing},
                                              {"extensions", {{"other", nothing}}}});
  EXPECT_EQ(said["id"], "init");
  EXPECT_EQ(said["result"], (Tree{{"protocolVersion", "2025-06-18"},
                                  {"capabilities", {{"tools", {{"listChanged", true}}}}},
                                  {"serverInfo", {{"name", "new"}, {"version", "4"}}},
                                  {"instructions", "be kind"}}));
}

TEST_F(LegacyOverModernTest, AHostsOwnVersionIsAnsweredWhereItIsALegacyOne) {
  for (const auto& [asked, answered] : {std::pair{"2024-11-05", "2024-11-05"},
                                        {"2025-03-26", "2025-03-26"},
                                        {"2025-06-18", "2025-06-18"},
                                        {"2025-11-25", "2025-11-25"},
                                        {"2026-07-28", "2025-11-25"},
                                        {"", "2025-11-25"},
                                        {"1999-01-01", "2025-11-25"}}) {
    EXPECT_EQ(introduced(asked)["result"]["protocolVersion"], answered) << asked;
  }
}

TEST_F(LegacyOverModernTest, AServerThatCannotBeAskedFailsInitialize) {
  ask(1, "initialize");
  server_says(error(server()["id"], -32022, "Unsupported protocol version"));
  EXPECT_EQ(host()["error"]["code"], -32603);
  ask(2, "initialize");
  server_says(result(server()["id"], {{"supportedVersions", {"2031-01-01"}}}));
  EXPECT_EQ(host()["error"]["code"], -32603);
}

TEST_F(LegacyOverModernTest, WhatTheModernEraHasNoUseForEndsHere) {
  introduced();
  ask(1, "ping");
  EXPECT_EQ(host()["result"], nothing);
  for (const char* method : {"tasks/get", "tasks/list", "tasks/result", "tasks/cancel",
                             "server/discover", "subscriptions/listen", "logging/setLevel"}) {
    ask(1, method, {{"level", "info"}});
    EXPECT_EQ(host()["error"]["code"], -32601) << method;
  }
  from_host(bridge_, notification("notifications/initialized"));
  from_host(bridge_, notification("notifications/roots/list_changed"));
  EXPECT_TRUE(is_silent());
}

// --- requests --------------------------------------------------------------------------------

TEST_F(LegacyOverModernTest, EachRequestIsStampedAndKeepsTheRestOfItsMeta) {
  introduced("2025-11-25", {{"logging", nothing}});
  Tree sent =
      call(1, {{"name", "x"},
               {"task", {{"ttl", 1}}},
               {"_meta", {{"progressToken", 1}, {"traceparent", "00-1"}, {version_key, nullptr}}}});
  const Tree meta = sent["params"]["_meta"];
  EXPECT_EQ(meta[version_key], "2026-07-28");
  EXPECT_EQ(meta[client_key]["name"], "cellblock");
  EXPECT_EQ(meta[capabilities_key],
            (Tree{{"roots", nothing}, {"elicitation", {{"form", nothing}, {"url", nothing}}}}));
  EXPECT_EQ(meta["traceparent"], "00-1");
  EXPECT_EQ(meta["progressToken"], sent["id"]);
  EXPECT_FALSE(meta.contains(level_key));
  EXPECT_FALSE(sent["params"].contains("task"));

  ask(2, "logging/setLevel", {{"level", "loud"}});
  EXPECT_EQ(host()["error"]["code"], -32602);
  ask(2, "logging/setLevel", {{"level", "warning"}});
  EXPECT_EQ(host()["result"], nothing);
  ask(3, "prompts/list");
  EXPECT_EQ(server()["params"]["_meta"][level_key], "warning");
  server_says(notification("notifications/message", {{"level", "info"}, {"data", 1}}));
  EXPECT_TRUE(is_silent());
  server_says(notification("notifications/message", {{"level", "error"}, {"data", 1}}));
  EXPECT_EQ(host()["params"]["data"], 1);
}

TEST_F(LegacyOverModernTest, ProgressAndCancellationFindTheirCall) {
  introduced();
  const Tree ours = call("", {{"name", "x"}, {"_meta", {{"progressToken", "t"}}}})["id"];
  const std::string progress =
      notification("notifications/progress", {{"progressToken", ours}, {"progress", 1}});
  server_says(progress);
  EXPECT_EQ(host()["params"]["progressToken"], "t");
  from_host(bridge_, notification("notifications/cancelled", {{"requestId", ""}}));
  EXPECT_EQ(server()["params"]["requestId"], ours);
  server_says(progress);
  server_says(result(ours, nothing));
  EXPECT_TRUE(is_silent());
}

TEST_F(LegacyOverModernTest, AnIdInFlightIsRefused) {
  introduced();
  call(1);
  ask(1, "tools/list");
  EXPECT_EQ(host()["error"]["code"], -32600);
}

// --- answers ---------------------------------------------------------------------------------

TEST_F(LegacyOverModernTest, AnswersLoseWhatOnlyTheModernEraHas) {
  introduced();
  ask(1, "resources/list");
  server_says(result(server()["id"], {{"resources", Tree::array()},
                                      {"resultType", "complete"},
                                      {"ttlMs", 5},
                                      {"cacheScope", "public"},
                                      {"vendor", 1},
                                      {"_meta", {{server_key, nothing}}}}));
  EXPECT_EQ(host()["result"], (Tree{{"resources", Tree::array()}, {"vendor", 1}}));
}

TEST_F(LegacyOverModernTest, OutputThatIsNoObjectIsWrappedInSchemaAndResult) {
  introduced();
  ask(1, "tools/list");
  const Tree loose{{"$ref", "#/$defs/a"}, {"$defs", {{"a", {{"items", {{"$ref", "#"}}}}}}}};
  server_says(result(server()["id"], {{"resultType", "complete"},
                                      {"tools",
                                       {{{"name", "plain"}, {"outputSchema", {{"type", "object"}}}},
                                        {{"name", "loose"}, {"outputSchema", loose}}}}}));
  const Tree tools = host()["result"]["tools"];
  EXPECT_EQ(tools[0]["outputSchema"], (Tree{{"type", "object"}}));
  const Tree inner = tools[1]["outputSchema"]["properties"]["result"];
  EXPECT_EQ(tools[1]["outputSchema"]["type"], "object");
  EXPECT_EQ(inner["$ref"], "#/properties/result/$defs/a");
  EXPECT_EQ(inner["$defs"]["a"]["items"]["$ref"], "#/properties/result");

  struct Claim {
    const char* tool;
    Tree said;
    Tree seen;
  };
  for (const Claim& claim :
       {Claim{"plain", {{"a", 1}}, {{"a", 1}}}, Claim{"plain", Tree::array({1}), {{"result", {1}}}},
        Claim{"loose", {{"a", 1}}, {{"result", {{"a", 1}}}}},
        Claim{"loose", "text", {{"result", "text"}}}}) {
    const Tree ours = call(1, {{"name", claim.tool}})["id"];
    server_says(result(ours, {{"resultType", "complete"}, {"structuredContent", claim.said}}));
    const Tree seen = host()["result"];
    EXPECT_EQ(seen["structuredContent"], claim.seen) << claim.said;
    if (claim.seen != claim.said) {
      EXPECT_EQ(seen["content"][0]["text"], claim.said.dump());
    }
  }
}

TEST_F(LegacyOverModernTest, ContentThatARevisionDoesNotKnowBecomesText) {
  struct Claim {
    const char* version;
    const char* type;
    bool kept;
  };
  for (const auto& [version, type, kept] :
       {Claim{"2024-11-05", "image", true}, Claim{"2024-11-05", "audio", false},
        Claim{"2025-03-26", "audio", true}, Claim{"2025-03-26", "resource_link", false},
        Claim{"2025-06-18", "resource_link", true}, Claim{"2025-11-25", "hologram", false}}) {
    introduced(version);
    const Tree block{{"type", type}, {"name", "n"}, {"uri", "a://b"}, {"mimeType", "x/y"}};
    server_says(result(call(1)["id"], {{"resultType", "complete"}, {"content", {block}}}));
    const Tree seen = host()["result"]["content"][0];
    EXPECT_EQ(seen["type"], kept ? type : "text") << version << type;
    ask(1, "prompts/get");
    server_says(result(server()["id"], {{"resultType", "complete"},
                                        {"messages", {{{"role", "user"}, {"content", block}}}}}));
    EXPECT_EQ(host()["result"]["messages"][0]["content"], seen);
  }
}

TEST_F(LegacyOverModernTest, CodesOfTheModernEraNeverReachTheHost) {
  introduced();
  for (const int code : {-32020, -32021, -32022}) {
    ask(1, "prompts/get");
    server_says(error(server()["id"], code, "why"));
    EXPECT_EQ(host()["error"]["code"], -32603);
    server_says(error(call(1)["id"], code, "why"));
    const Tree said = host()["result"];
    EXPECT_EQ(said["isError"], true);
    EXPECT_EQ(said["content"][0]["text"], "why");
  }
  ask(1, "resources/read", {{"uri", "a://b"}});
  server_says(error(server()["id"], -32602, "not found", {{"uri", "a://b"}}));
  EXPECT_EQ(host()["error"]["code"], -32002);
  ask(1, "resources/read", {{"uri", "a://b"}});
  server_says(error(server()["id"], -32602, "bad cursor"));
  EXPECT_EQ(host()["error"]["code"], -32602);
}

TEST_F(LegacyOverModernTest, AResultThatIsNoObjectEndsTheCallInsteadOfLosingIt) {
  introduced();
  server_says(result(call(1)["id"], "text"));
  EXPECT_EQ(host()["error"]["code"], -32603);
}

TEST_F(LegacyOverModernTest, AnAnswerTooDeepToBeSentOnFailsTheCall) {
  introduced();
  ask_for(call(1)["id"], {{"who", name_question}});
  Tree deep = nothing;
  for (int depth = 0; depth < 60; ++depth) deep = {{"a", deep}};
  from_host(bridge_, result(host()["id"], deep));
  EXPECT_EQ(host()["result"]["isError"], true);
  EXPECT_TRUE(is_silent());
}

TEST_F(LegacyOverModernTest, AKindOfResultThatIsNotKnownFailsTheCall) {
  introduced();
  server_says(result(call(1)["id"], {{"resultType", "task"}, {"taskId", "t"}}));
  EXPECT_EQ(host()["result"]["isError"], true);
}

// --- questions -------------------------------------------------------------------------------

TEST_F(LegacyOverModernTest, WhatTheServerNeedsIsAskedOfTheHostAndTheCallMadeAgain) {
  introduced();
  const Tree first =
      call(1, {{"name", "ask"}, {"arguments", {{"a", 1}}}, {"_meta", {{"progressToken", 7}}}});
  ask_for(first["id"], {{"who", name_question}, {"where", {{"method", "roots/list"}}}});
  const auto asked = take_host();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0]["method"], "elicitation/create");
  EXPECT_EQ(asked[0]["params"]["message"], "[server web] Your name?");
  EXPECT_EQ(asked[1]["method"], "roots/list");
  from_host(bridge_, result(asked[1]["id"], {{"roots", Tree::array()}}));
  EXPECT_TRUE(is_silent());
  from_host(bridge_, result(asked[0]["id"], {{"action", "accept"}}));
  const Tree again = server();
  EXPECT_NE(again["id"], first["id"]);
  EXPECT_EQ(again["params"]["inputResponses"],
            (Tree{{"who", {{"action", "accept"}}}, {"where", {{"roots", Tree::array()}}}}));
  EXPECT_EQ(again["params"]["requestState"], "s1");
  EXPECT_EQ(again["params"]["arguments"], (Tree{{"a", 1}}));
  EXPECT_EQ(again["params"]["_meta"]["progressToken"], again["id"]);
  server_says(
      notification("notifications/progress", {{"progressToken", again["id"]}, {"progress", 1}}));
  EXPECT_EQ(host()["params"]["progressToken"], 7);
  server_says(result(again["id"], {{"resultType", "complete"}, {"content", Tree::array()}}));
  EXPECT_EQ(host()["id"], 1);
  EXPECT_EQ(due_, std::nullopt);
}

TEST_F(LegacyOverModernTest, AnswersThatAreTooLargeToBeKeptTogetherFailTheirCall) {
  introduced();
  ask_for(call(1)["id"], {{"a", name_question}, {"b", name_question}});
  const auto asked = take_host();
  ASSERT_EQ(asked.size(), 2U);
  const std::string half(LegacyOverModern::max_kept_bytes / 2, 'x');
  from_host(bridge_, result(asked[0]["id"], {{"action", "accept"}, {"content", {{"t", half}}}}));
  EXPECT_TRUE(is_silent());
  from_host(bridge_, result(asked[1]["id"], {{"action", "accept"}, {"content", {{"t", half}}}}));
  const auto said = take_host();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.back()["id"], 1);
  EXPECT_EQ(said.back()["result"]["isError"], true);
}

TEST_F(LegacyOverModernTest, AnEarlierRoundsAnswersAndStateAreNotRepeated) {
  introduced();
  ask_for(call(1)["id"], {{"who", name_question}});
  from_host(bridge_, result(host()["id"], {{"action", "accept"}}));
  server_says(result(server()["id"], {{"resultType", "input_required"},
                                      {"inputRequests", {{"more", name_question}}}}));
  from_host(bridge_, result(host()["id"], {{"action", "decline"}}));
  const Tree params = server()["params"];
  EXPECT_EQ(params["inputResponses"], (Tree{{"more", {{"action", "decline"}}}}));
  EXPECT_FALSE(params.contains("requestState"));
}

TEST_F(LegacyOverModernTest, AUrlGetsTheIdThatALegacyHostNeeds) {
  introduced();
  ask_for(call(1)["id"],
          {{"u",
            {{"method", "elicitation/create"},
             {"params", {{"mode", "url"}, {"message", "m"}, {"url", "https://a.example"}}}}}});
  EXPECT_NE(host()["params"].value("elicitationId", ""), "");
}

TEST_F(LegacyOverModernTest, WhatTheHostCannotBeAskedFailsTheCall) {
  introduced();
  ask_for(call(1)["id"], {{"x", {{"method", "sampling/createMessage"}, {"params", nothing}}}});
  EXPECT_EQ(host()["result"]["isError"], true);
  EXPECT_EQ(notes_, std::vector<std::string>{"client_capabilities"});
  ask(1, "tools/list");
  ask_for(server()["id"], {{"who", name_question}});
  EXPECT_EQ(host()["error"]["code"], -32603);
}

TEST_F(LegacyOverModernTest, RoundsThatAskNothingArePacedAndBounded) {
  introduced();
  Tree ours = call(1)["id"];
  for (unsigned round = 0; round < InputRounds::max_rounds; ++round) {
    ask_for(ours, {}, round);
    EXPECT_TRUE(is_silent());
    pass(bridge_, 249ms);
    EXPECT_TRUE(is_silent());
    pass(bridge_, 1ms);
    const Tree again = server();
    EXPECT_EQ(again["params"]["requestState"], round);
    ours = again["id"];
  }
  ask_for(ours, {});
  EXPECT_EQ(host()["result"]["isError"], true);
  EXPECT_EQ(due_, std::nullopt);
}

TEST_F(LegacyOverModernTest, ARefusedElicitationIsACancelAndARefusalOfAnythingElseAFailure) {
  introduced();
  ask_for(call(1)["id"], {{"who", name_question}});
  from_host(bridge_, error(host()["id"], -32603, "busy"));
  EXPECT_EQ(server()["params"]["inputResponses"]["who"]["action"], "cancel");
  ask_for(call(2)["id"], {{"who", name_question}, {"where", {{"method", "roots/list"}}}});
  const auto asked = take_host();
  from_host(bridge_, error(asked[1]["id"], -32601, "no roots"));
  const auto said = take_host();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["params"]["requestId"], asked[0]["id"]);
  EXPECT_EQ(said[1]["result"]["isError"], true);
  from_host(bridge_, result(asked[0]["id"], {{"action", "accept"}}));
  EXPECT_TRUE(is_silent());
}

TEST_F(LegacyOverModernTest, ACancelledCallWithdrawsItsQuestions) {
  introduced();
  ask_for(call(1)["id"], {{"who", name_question}});
  const Tree asked = host();
  from_host(bridge_, notification("notifications/cancelled", {{"requestId", 1}}));
  EXPECT_EQ(host()["params"]["requestId"], asked["id"]);
  from_host(bridge_, result(asked["id"], {{"action", "accept"}}));
  pass(bridge_, InputRounds::patience);
  EXPECT_TRUE(is_silent());
  EXPECT_EQ(bridge_.in_flight(), 0U);
}

TEST_F(LegacyOverModernTest, AHostThatNeverAnswersFailsTheCall) {
  introduced();
  ask_for(call(1)["id"], {{"who", name_question}});
  take_host();
  pass(bridge_, InputRounds::patience);
  const auto said = take_host();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["method"], "notifications/cancelled");
  EXPECT_EQ(said[1]["result"]["isError"], true);
}

TEST_F(LegacyOverModernTest, TheEndOfTheServerAnswersEachRequestOnce) {
  introduced();
  ask_for(call(1)["id"], {{"who", name_question}});
  const Tree asked = host();
  call(2);
  ask(3, "initialize");
  bridge_.fail_all(plain_failure(FailureCode::server_failed, "died"), now_);
  const auto said = take_host();
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[0]["id"], 3);
  EXPECT_EQ(said[1]["params"]["requestId"], asked["id"]);
  EXPECT_EQ(said[2]["id"], 1);
  EXPECT_EQ(said[3]["id"], 2);
  from_host(bridge_, result(asked["id"], {{"action", "accept"}}));
  EXPECT_TRUE(take_host().empty());
  EXPECT_EQ(bridge_.in_flight(), 0U);
  EXPECT_EQ(due_, std::nullopt);
}

// --- streams ---------------------------------------------------------------------------------

class Subscriptions : public LegacyOverModernTest {
 protected:
  void SetUp() override {
    introduced("2025-11-25",
               {{"tools", {{"listChanged", true}}}, {"resources", {{"subscribe", true}}}});
    from_host(bridge_, notification("notifications/initialized"));
    stream_ = server();
    EXPECT_EQ(stream_["params"]["notifications"], (Tree{{"toolsListChanged", true}}));
    acknowledge(stream_);
    EXPECT_TRUE(is_silent());
  }

  static Tree tagged(const Tree& stream, Tree params = nothing) {
    params["_meta"][stream_key] = stream["id"];
    return params;
  }
  void acknowledge(const Tree& stream) {
    server_says(
        notification("notifications/subscriptions/acknowledged",
                     tagged(stream, {{"notifications", stream["params"]["notifications"]}})));
  }
  void update(const Tree& stream, std::string_view uri) {
    server_says(notification("notifications/resources/updated", tagged(stream, {{"uri", uri}})));
  }

  Tree stream_;
};

TEST_F(Subscriptions, AListThatChangesIsToldPlainly) {
  server_says(notification("notifications/tools/list_changed", tagged(stream_)));
  EXPECT_EQ(host(), (Tree{{"jsonrpc", "2.0"}, {"method", "notifications/tools/list_changed"}}));
}

TEST_F(Subscriptions, ASubscriptionIsAnsweredWhenItsStreamIsAcknowledged) {
  ask(1, "resources/subscribe", {{"uri", "a://1"}});
  const Tree next = server();
  EXPECT_EQ(next["method"], "subscriptions/listen");
  EXPECT_EQ(next["params"]["notifications"],
            (Tree{{"toolsListChanged", true}, {"resourceSubscriptions", {"a://1"}}}));
  EXPECT_EQ(next["params"]["_meta"][version_key], "2026-07-28");
  EXPECT_EQ(bridge_.in_flight(), 1U);
  server_says(notification("notifications/tools/list_changed", tagged(stream_)));
  EXPECT_EQ(host()["method"], "notifications/tools/list_changed");
  acknowledge(next);
  EXPECT_EQ(host()["result"], nothing);
  EXPECT_EQ(server()["params"]["requestId"], stream_["id"]);

  // Both streams are open for a moment: only the newer one counts.
  server_says(notification("notifications/tools/list_changed", tagged(stream_)));
  EXPECT_TRUE(is_silent());
  update(next, "a://1/part");
  EXPECT_EQ(host()["params"], (Tree{{"uri", "a://1/part"}}));
  update(next, "a://12");
  EXPECT_TRUE(is_silent());
}

TEST_F(Subscriptions, WhatIsWantedMeanwhileComesWithTheNextStream) {
  ask(1, "resources/subscribe", {{"uri", "a://1"}});
  const Tree second = server();
  ask(2, "resources/subscribe", {{"uri", "a://2"}});
  ask(3, "resources/subscribe", {{"uri", "a://2"}});
  EXPECT_TRUE(is_silent());
  acknowledge(second);
  EXPECT_EQ(host()["id"], 1);
  const auto said = take_server();
  ASSERT_EQ(said.size(), 2U);
  acknowledge(said[1]);
  const auto answered = take_host();
  ASSERT_EQ(answered.size(), 2U);
  EXPECT_EQ(answered[0]["id"], 2);
  EXPECT_EQ(answered[1]["id"], 3);
}

TEST_F(Subscriptions, AnUnsubscribedResourceIsNotHeardOfAgain) {
  ask(1, "resources/subscribe", {{"uri", "a://1"}});
  const Tree second = server();
  acknowledge(second);
  take_host();
  take_server();
  ask(2, "resources/unsubscribe", {{"uri", "a://1"}});
  EXPECT_EQ(host()["id"], 2);
  const Tree third = server();
  EXPECT_FALSE(third["params"]["notifications"].contains("resourceSubscriptions"));
  update(second, "a://1");
  EXPECT_TRUE(is_silent());
}

TEST_F(Subscriptions, AResourceThatTheServerDoesNotTakeIsAnError) {
  ask(1, "resources/subscribe", {{"uri", "a://no"}});
  Tree next = server();
  next["params"]["notifications"].erase("resourceSubscriptions");
  acknowledge(next);
  EXPECT_EQ(host()["error"]["code"], -32602);
  EXPECT_EQ(take_server().size(), 1U);
  ask(2, "resources/subscribe", {{"uri", "a://no"}});
  server_says(error(server()["id"], -32022, "no"));
  EXPECT_EQ(host()["error"]["code"], -32603);
}

TEST_F(Subscriptions, ALostStreamIsOpenedAgainAfterAPauseAndItsResourcesToldOf) {
  ask(1, "resources/subscribe", {{"uri", "a://1"}});
  const Tree second = server();
  acknowledge(second);
  take_host();
  take_server();
  server_says(result(second["id"], {{"resultType", "complete"}}));
  EXPECT_TRUE(is_silent());
  pass(bridge_, 1s);
  const Tree third = server();
  acknowledge(third);
  EXPECT_EQ(host()["params"], (Tree{{"uri", "a://1"}}));
}

TEST_F(Subscriptions, AfterTheEndOfACellTheNextRequestOpensTheStreamAgain) {
  bridge_.fail_all(plain_failure(FailureCode::server_failed, "died"), now_);
  pass(bridge_, 1h);
  EXPECT_TRUE(is_silent());
  ask(1, "tools/list");
  const auto said = take_server();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["method"], "subscriptions/listen");
  EXPECT_EQ(said[1]["method"], "tools/list");
}

TEST_F(Subscriptions, TheEndOfTheHostEndsStreamAndCalls) {
  const Tree ours = call(1)["id"];
  bridge_.cancel_all("host closed", now_);
  const auto said = take_server();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["params"]["requestId"], ours);
  EXPECT_EQ(said[1]["params"]["requestId"], stream_["id"]);
}

TEST_F(LegacyOverModernTest, AServerWithoutStreamsTakesNoSubscription) {
  introduced();
  ask(1, "resources/subscribe", {{"uri", "a://1"}});
  EXPECT_EQ(host()["error"]["code"], -32601);
}

TEST_F(LegacyOverModernTest, ARequestOfAModernServerIsDroppedAndRecorded) {
  introduced();
  server_says(request(1, "elicitation/create", nothing));
  EXPECT_TRUE(is_silent());
  EXPECT_EQ(notes_, std::vector<std::string>{"request_of_a_modern_server"});
}

}  // namespace
}  // namespace cellblock::gateway
