#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/gateway/message/session_failures.h"
#include "tests/unit/modern_over_legacy_rig.h"

namespace cellblock::gateway {
namespace {

using ModernOverLegacyTest = ModernOverLegacyRig;

// --- hands -----------------------------------------------------------------------------------

TEST_F(ModernOverLegacyTest, TheFirstRequestWaitsUntilHandsAreShaken) {
  ask(0, "tools/list", {{"cursor", ""}});
  const Tree initialize = server();
  EXPECT_EQ(initialize["method"], "initialize");
  EXPECT_EQ(initialize["params"]["protocolVersion"], "2025-11-25");
  EXPECT_EQ(initialize["params"]["clientInfo"]["name"], "cellblock");
  EXPECT_EQ(
      initialize["params"]["capabilities"],
      (Tree{
          {"roots", nothing}, {"sampling", nothing}, {"elicitation", everything["elicitation"]}}));
  ask("", "prompts/list");
  EXPECT_TRUE(is_silent());
  EXPECT_EQ(bridge_.in_flight(), 2U);

  server_says(result(
      initialize["id"],
      {{"protocolVersion", "2024-11-05"}, {"capabilities", nothing}, {"serverInfo", nothing}}));
  const auto said = take_server();
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[0], (Tree{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}));
  EXPECT_EQ(said[1]["params"], (Tree{{"cursor", ""}}));
  EXPECT_EQ(said[2]["method"], "prompts/list");
}

class NoFeatures : public ModernOverLegacyTest {
 protected:
  NoFeatures() : ModernOverLegacyTest(ClientFeatures{}) {}
};

TEST_F(NoFeatures, AServerHearsOfNoCapabilityThatItMayNotUse) {
  ask(1, "tools/list");
  EXPECT_EQ(server()["params"]["capabilities"], nothing);
}

TEST_F(ModernOverLegacyTest, AServerThatNamesItsVersionsIsAskedAgainWithOneOfThem) {
  ask(1, "tools/list");
  server_says(error(server()["id"], -32602, "Unsupported",
                    {{"supported", {"2024-11-05", "2025-03-26", "2099-01-01"}}}));
  EXPECT_EQ(server()["params"]["protocolVersion"], "2025-03-26");
}

TEST_F(ModernOverLegacyTest, ARefusedHandshakeAnswersWhatWaitedAndIsTriedAgain) {
  ask(1, "tools/call", {{"name", "x"}});
  server_says(error(server()["id"], -32603, "no"));
  EXPECT_EQ(host()["result"]["isError"], true);
  ask(2, "tools/list");
  EXPECT_EQ(server()["method"], "initialize");
}

TEST_F(ModernOverLegacyTest, WhatWaitsForHandsIsBounded) {
  for (std::size_t i = 0; i < HeldRequests::max_requests; ++i) ask(i, "tools/list");
  take_server();
  ask("more", "tools/list");
  EXPECT_EQ(host()["error"]["data"]["code"], "too_many");
}

TEST_F(ModernOverLegacyTest, DiscoverIsMadeOfTheHandshake) {
  shake_hands();
  ask("d", "server/discover");
  const Tree discovered = host()["result"];
  EXPECT_EQ(discovered["supportedVersions"], Tree::array({"2026-07-28"}));
  EXPECT_EQ(discovered["instructions"], "be kind");
  EXPECT_EQ(discovered["cacheScope"], "private");
  EXPECT_TRUE(discovered["ttlMs"].is_number_unsigned());
  EXPECT_TRUE(discovered["capabilities"].contains("logging"));
  EXPECT_FALSE(discovered["capabilities"].contains("tasks"));
  EXPECT_EQ(discovered["_meta"][server_key]["name"], "old");
}

// --- requests --------------------------------------------------------------------------------

TEST_F(ModernOverLegacyTest, ReservedNamesInMetaEndHereAndAllOthersPass) {
  shake_hands();
  ask(1, "tools/call",
      {{"name", "x"},
       {"_meta",
        {{"traceparent", "00-1"},
         {"tracestate", "a=b"},
         {"baggage", "c"},
         {"vendor.example/x", 1},
         {"progressToken", "mine"}}}});
  const Tree sent = server();
  EXPECT_EQ(sent["params"]["_meta"], (Tree{{"traceparent", "00-1"},
                                           {"tracestate", "a=b"},
                                           {"baggage", "c"},
                                           {"vendor.example/x", 1},
                                           {"progressToken", sent["id"]}}));
}

TEST_F(ModernOverLegacyTest, WhatALegacyServerAloneWouldAnswerIsRefused) {
  shake_hands();
  for (const char* method : {"ping", "initialize", "logging/setLevel", "resources/subscribe",
                             "resources/unsubscribe", "tasks/get", "tasks/list", "roots/list"}) {
    ask(1, method);
    EXPECT_EQ(host()["error"]["code"], -32601) << method;
  }
  EXPECT_TRUE(is_silent());
}

TEST_F(ModernOverLegacyTest, AnIdInFlightIsRefusedAndKeepsItsType) {
  shake_hands();
  const Tree ours = call(1);
  ask(1, "tools/list");
  EXPECT_EQ(host()["error"]["code"], -32600);
  ask("1", "tools/list");
  EXPECT_EQ(server()["method"], "tools/list");
  server_says(result(ours, {{"content", Tree::array()}}));
  EXPECT_EQ(host()["id"], 1);
}

// --- answers ---------------------------------------------------------------------------------

TEST_F(ModernOverLegacyTest, AnswersSayWhatAModernHostNeeds) {
  shake_hands();
  struct Claim {
    const char* method;
    bool cacheable;
  };
  for (const auto& [method, cacheable] :
       {Claim{"tools/list", true}, Claim{"resources/list", true}, Claim{"prompts/list", true},
        Claim{"resources/templates/list", true}, Claim{"resources/read", true},
        Claim{"tools/call", false}, Claim{"prompts/get", false},
        Claim{"completion/complete", false}}) {
    ask(1, method);
    server_says(result(server()["id"], {{"vendor", 1},
                                        {"_meta", {{"kept", 1}}},
                                        {"resultType", "input_required"},
                                        {"requestState", "x"}}));
    const Tree said = host()["result"];
    EXPECT_EQ(said["resultType"], "complete") << method;
    EXPECT_EQ(said["vendor"], 1);
    EXPECT_FALSE(said.contains("requestState"));
    EXPECT_EQ(said["_meta"]["kept"], 1);
    EXPECT_EQ(said["_meta"][server_key]["name"], "old");
    EXPECT_EQ(said.contains("ttlMs"), cacheable) << method;
    EXPECT_EQ(said.value("cacheScope", ""), cacheable ? "private" : "") << method;
  }
}

TEST_F(ModernOverLegacyTest, AToolThatOnlyRunsAsATaskIsNotListed) {
  shake_hands();
  ask(1, "tools/list");
  server_says(
      result(server()["id"], {{"tools",
                               {{{"name", "a"}, {"execution", {{"taskSupport", "optional"}}}},
                                {{"name", "b"}, {"execution", {{"taskSupport", "required"}}}}}}}));
  EXPECT_EQ(host()["result"]["tools"], Tree::array({{{"name", "a"}}}));
}

TEST_F(ModernOverLegacyTest, ErrorsHaveTheModernCodes) {
  shake_hands();
  ask(1, "resources/read", {{"uri", "a://b"}});
  server_says(error(server()["id"], -32002, "gone"));
  Tree said = host()["error"];
  EXPECT_EQ(said["code"], -32602);
  EXPECT_EQ(said["data"]["uri"], "a://b");
  for (const auto& [sent, seen] :
       {std::pair{-32601, -32601}, {-32021, -32603}, {-32002, -32603}, {-31000, -31000}}) {
    ask(1, "prompts/get");
    server_says(error(server()["id"], sent, "x"));
    EXPECT_EQ(host()["error"]["code"], seen);
  }
}

TEST_F(ModernOverLegacyTest, ProgressHasTheHostsTokenUntilTheAnswer) {
  shake_hands();
  const Tree ours = call(1, {{"name", "x"}, {"_meta", {{"progressToken", "mine"}}}});
  const std::string progress = notification(
      "notifications/progress", {{"progressToken", ours}, {"progress", 1}, {"message", "m"}});
  server_says(progress);
  EXPECT_EQ(host()["params"], (Tree{{"progressToken", "mine"}, {"progress", 1}, {"message", "m"}}));
  server_says(result(ours, {{"content", Tree::array()}}));
  take_host();
  server_says(progress);
  server_says(result(ours, {{"content", Tree::array()}}));
  EXPECT_TRUE(is_silent());
}

TEST_F(ModernOverLegacyTest, ACancelledCallIsCancelledThereAndNeverAnswered) {
  shake_hands();
  const Tree ours = call(0);
  from_host(bridge_, notification("notifications/cancelled", {{"requestId", 0}}));
  const Tree said = server();
  EXPECT_EQ(said["params"]["requestId"], ours);
  server_says(result(ours, nothing));
  from_host(bridge_, notification("notifications/cancelled", {{"requestId", 0}}));
  EXPECT_TRUE(is_silent());
  EXPECT_EQ(bridge_.in_flight(), 0U);
}

TEST_F(ModernOverLegacyTest, ALogLevelGoesAheadAndOnlyWhoAskedHearsLogs) {
  shake_hands();
  const std::string log = notification("notifications/message", {{"level", "info"}, {"data", 1}});
  call(1);
  server_says(log);
  EXPECT_TRUE(is_silent());
  ask(2, "tools/call", {{"name", "x"}, {"_meta", {{level_key, "info"}}}});
  const auto said = take_server();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["method"], "logging/setLevel");
  EXPECT_EQ(said[0]["params"], (Tree{{"level", "info"}}));
  server_says(log);
  EXPECT_EQ(host()["params"]["data"], 1);
  server_says(notification("notifications/message", {{"level", "debug"}, {"data", 1}}));
  server_says(result(said[1]["id"], nothing));
  take_host();
  server_says(log);
  EXPECT_TRUE(is_silent());
}

// --- listening -------------------------------------------------------------------------------

TEST_F(ModernOverLegacyTest, AStreamIsAcknowledgedWhenItsResourcesAre) {
  shake_hands();
  ask("s", "subscriptions/listen",
      {{"notifications",
        {{"toolsListChanged", true},
         {"promptsListChanged", true},
         {"resourceSubscriptions", {"a://1", "a://no", "a://1"}}}}});
  const auto asked = take_server();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0]["method"], "resources/subscribe");
  server_says(result(asked[0]["id"], nothing));
  server_says(notification("notifications/resources/updated", {{"uri", "a://1/part"}}));
  EXPECT_TRUE(is_silent());
  server_says(error(asked[1]["id"], -32602, "no such"));
  const auto said = take_host();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["method"], "notifications/subscriptions/acknowledged");
  EXPECT_EQ(said[0]["params"]["notifications"],
            (Tree{{"toolsListChanged", true}, {"resourceSubscriptions", {"a://1"}}}));
  EXPECT_EQ(said[0]["params"]["_meta"][stream_key], "s");
  EXPECT_EQ(said[1]["params"]["uri"], "a://1/part");
  EXPECT_EQ(said[1]["params"]["_meta"][stream_key], "s");
}

TEST_F(ModernOverLegacyTest, OnlySoMuchIsKeptForAStreamThatIsNotAcknowledgedYet) {
  shake_hands();
  ask("s", "subscriptions/listen", {{"notifications", {{"resourceSubscriptions", {"a://1"}}}}});
  const Tree asked = server();
  const std::string large(ModernStreams::max_early_bytes / 2, 'x');
  for (const char* uri : {"a://1/a", "a://1/b", "a://1/c"}) {
    server_says(notification("notifications/resources/updated", {{"uri", uri}, {"x", large}}));
  }
  EXPECT_TRUE(is_silent());
  server_says(result(asked["id"], nothing));
  EXPECT_EQ(take_host().size(), 2U);
}

TEST_F(ModernOverLegacyTest, StreamsShareASubscriptionUntilTheLastOneEnds) {
  shake_hands();
  const Tree wanted{
      {"notifications", {{"toolsListChanged", true}, {"resourceSubscriptions", {"a://"}}}}};
  ask(7, "subscriptions/listen", wanted);
  server_says(result(server()["id"], nothing));
  ask("7", "subscriptions/listen", wanted);
  EXPECT_TRUE(take_server().empty());
  take_host();

  server_says(notification("notifications/resources/updated", {{"uri", "a://x"}}));
  const auto said = take_host();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["params"]["_meta"][stream_key], 7);
  EXPECT_EQ(said[1]["params"]["_meta"][stream_key], "7");

  from_host(bridge_, notification("notifications/cancelled", {{"requestId", 7}}));
  EXPECT_TRUE(is_silent());
  server_says(notification("notifications/tools/list_changed"));
  EXPECT_EQ(host()["params"]["_meta"][stream_key], "7");
  from_host(bridge_, notification("notifications/cancelled", {{"requestId", "7"}}));
  EXPECT_EQ(server()["method"], "resources/unsubscribe");
  server_says(notification("notifications/resources/updated", {{"uri", "a://x"}}));
  EXPECT_TRUE(is_silent());
}

TEST_F(ModernOverLegacyTest, OnlyTheResourceItselfAndWhatIsInsideItMatch) {
  shake_hands();
  ask(1, "subscriptions/listen", {{"notifications", {{"resourceSubscriptions", {"a://b"}}}}});
  server_says(result(server()["id"], nothing));
  take_host();
  for (const auto& [uri, told] : {std::pair{"a://b", true},
                                  {"a://b/c", true},
                                  {"a://b#c", true},
                                  {"a://b?c", true},
                                  {"a://bc", false},
                                  {"a://", false}}) {
    server_says(notification("notifications/resources/updated", {{"uri", uri}}));
    EXPECT_EQ(take_host().size(), told ? 1U : 0U) << uri;
  }
}

TEST_F(ModernOverLegacyTest, AStreamThatIsMeantToEndEndsWithoutError) {
  shake_hands();
  ask("s", "subscriptions/listen", {{"notifications", nothing}});
  take_host();
  bridge_.fail_all(plain_failure(FailureCode::shutting_down, "bye"), now_);
  const Tree said = host();
  EXPECT_EQ(said["id"], "s");
  EXPECT_EQ(said["result"]["resultType"], "complete");
  EXPECT_EQ(said["result"]["_meta"][stream_key], "s");
}

}  // namespace
}  // namespace cellblock::gateway
