#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/translate/legacy_over_modern.h"
#include "supervisor/gateway/translate/modern_over_legacy.h"
#include "tests/unit/era_rig.h"

// A modern host at a modern server with both bridges between them: what one says must be what the
// other takes, and each is spoken to while it speaks.
namespace cellblock::gateway {
namespace {

const Tree nothing = Tree::object();
constexpr ClientFeatures all{.roots = true, .sampling = true, .elicitation = true};

UpstreamIds::Fill counting() {
  return [next = 1U](std::span<std::byte> bytes) mutable {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next++ * 167U >> 3U);
  };
}

/// One end goes to the test, the other straight into the other bridge.
class ChainTest : public testing::Test {
 protected:
  class Link : public BridgeRig {
   public:
    Bridge* next = nullptr;
    enum class Passes : bool { to_server, to_host } passes = Passes::to_server;

    void to_server(std::string_view text) override {
      if (passes == Passes::to_host) return BridgeRig::to_server(text);
      BridgeRig().from_host(*next, std::string(text));
    }
    void to_host(std::string_view text) override {
      if (passes == Passes::to_server) return BridgeRig::to_host(text);
      BridgeRig().from_server(*next, std::string(text));
    }
  };

  ChainTest() {
    near_.next = &legacy_;
    far_.next = &modern_;
    far_.passes = Link::Passes::to_host;
    // The modern era needs none; the bridges' own legacy side does.
    host_asks("first", "tools/list");
    const Tree discover = far_.server();
    server_says(result(discover["id"], {{"supportedVersions", {"2026-07-28"}},
                                        {"capabilities",
                                         {{"tools", {{"listChanged", true}}},
                                          {"resources", {{"subscribe", true}}}}}}));
    for (const Tree& said : far_.take_server()) {
      if (said["method"] == "subscriptions/listen") stream_ = said;
      if (said["method"] == "tools/list")
        server_says(result(said["id"], {{"tools", Tree::array()}}));
    }
    acknowledge();
    EXPECT_EQ(near_.host()["result"]["resultType"], "complete");
  }

  void host_asks(const Tree& id, std::string_view method, Tree params = nothing) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {{"elicitation", nothing}};
    near_.from_host(modern_, request(id, method, std::move(params)));
  }
  void server_says(const std::string& text) { far_.from_server(legacy_, text); }
  void acknowledge() {
    server_says(
        notification("notifications/subscriptions/acknowledged",
                     {{"notifications", stream_["params"]["notifications"]},
                      {"_meta", {{"io.modelcontextprotocol/subscriptionId", stream_["id"]}}}}));
  }

  Sealer sealer_{counting()};
  UpstreamIds tickets_{counting()};
  Link near_;
  Link far_;
  ModernOverLegacy modern_{BridgedServer{"s", all}, SealBinding{}, sealer_, tickets_, near_};
  LegacyOverModern legacy_{BridgedServer{"s", all}, far_};
  Tree stream_;
};

TEST_F(ChainTest, AQuestionGoesThroughBothAndItsAnswerComesBack) {
  host_asks(1, "tools/call", {{"name", "ask"}, {"arguments", {{"a", 1}}}});
  const Tree first = far_.server();
  server_says(
      result(first["id"],
             {{"resultType", "input_required"},
              {"requestState", "theirs"},
              {"inputRequests",
               {{"who", {{"method", "elicitation/create"}, {"params", {{"message", "?"}}}}}}}}));
  near_.pass(modern_, ParkedCalls::window);
  const Tree asked = near_.host()["result"];
  ASSERT_EQ(asked["inputRequests"].size(), 1U);
  EXPECT_EQ(asked["inputRequests"].begin().value()["params"]["message"], "[server s] ?");
  host_asks(2, "tools/call",
            {{"name", "ask"},
             {"arguments", {{"a", 1}}},
             {"requestState", asked["requestState"]},
             {"inputResponses", {{asked["inputRequests"].begin().key(), {{"action", "accept"}}}}}});
  const Tree again = far_.server();
  EXPECT_EQ(again["params"]["inputResponses"], (Tree{{"who", {{"action", "accept"}}}}));
  EXPECT_EQ(again["params"]["requestState"], "theirs");
  EXPECT_EQ(again["params"]["arguments"], (Tree{{"a", 1}}));
  server_says(result(again["id"], {{"resultType", "complete"}, {"content", Tree::array()}}));
  EXPECT_EQ(near_.host()["id"], 2);
}

TEST_F(ChainTest, AStreamIsOneAtBothEnds) {
  host_asks(
      "s", "subscriptions/listen",
      {{"notifications", {{"toolsListChanged", true}, {"resourceSubscriptions", {"a://1"}}}}});
  stream_ = far_.server();
  EXPECT_EQ(stream_["params"]["notifications"],
            (Tree{{"toolsListChanged", true}, {"resourceSubscriptions", {"a://1"}}}));
  EXPECT_TRUE(near_.is_silent());
  acknowledge();
  EXPECT_EQ(near_.host()["method"], "notifications/subscriptions/acknowledged");
  server_says(notification(
      "notifications/resources/updated",
      {{"uri", "a://1"}, {"_meta", {{"io.modelcontextprotocol/subscriptionId", stream_["id"]}}}}));
  EXPECT_EQ(near_.host()["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "s");
}

TEST_F(ChainTest, ACancelledQuestionEndsEverywhere) {
  host_asks(1, "tools/call", {{"name", "ask"}});
  server_says(
      result(far_.server()["id"],
             {{"resultType", "input_required"},
              {"inputRequests",
               {{"who", {{"method", "elicitation/create"}, {"params", {{"message", "?"}}}}}}}}));
  near_.from_host(modern_, notification("notifications/cancelled", {{"requestId", 1}}));
  near_.pass(modern_, ParkedCalls::window);
  EXPECT_TRUE(near_.is_silent());
  EXPECT_EQ(modern_.in_flight() + legacy_.in_flight(), 0U);
}

TEST_F(ChainTest, TheEndOfTheServerIsAnsweredOnceThroughBoth) {
  host_asks(1, "tools/call", {{"name", "x"}});
  host_asks(2, "prompts/list");
  legacy_.fail_all(plain_failure(FailureCode::server_failed, "died"), near_.now_);
  const auto said = near_.take_host();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["result"]["isError"], true);
  EXPECT_EQ(said[1]["error"]["data"]["code"], "server_failed");
  EXPECT_EQ(modern_.in_flight(), 0U);
}

}  // namespace
}  // namespace cellblock::gateway
