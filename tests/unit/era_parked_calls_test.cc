#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/gateway/message/session_failures.h"
#include "tests/unit/modern_over_legacy_rig.h"

namespace cellblock::gateway {
namespace {

using ParkingTest = ModernOverLegacyRig;

// --- questions -------------------------------------------------------------------------------

TEST_F(ParkingTest, AQuestionParksTheCallAndTheRetryResumesIt) {
  shake_hands();
  const Tree ours = call(4, {{"name", "ask"}, {"_meta", {{"progressToken", 4}}}});
  const Tree asked = parked(0);
  EXPECT_EQ(asked["id"], 4);
  EXPECT_EQ(asked["result"]["resultType"], "input_required");
  const Tree& questions = asked["result"]["inputRequests"];
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(questions.begin().value(),
            (Tree{{"method", "elicitation/create"},
                  {"params", {{"message", "[server files] Your name?"}}}}));
  EXPECT_EQ(bridge_.in_flight(), 0U);
  EXPECT_TRUE(take_server().empty());

  retry(5, asked,
        {{questions.begin().key(), {{"action", "accept"}, {"content", {{"name", "octo"}}}}}},
        {{"name", "ask"}, {"_meta", {{"progressToken", "again"}}}});
  const Tree answered = server();
  EXPECT_EQ(answered["id"], 0);
  EXPECT_EQ(answered["result"], (Tree{{"action", "accept"}, {"content", {{"name", "octo"}}}}));
  EXPECT_EQ(bridge_.in_flight(), 1U);
  server_says(notification("notifications/progress", {{"progressToken", ours}, {"progress", 2}}));
  EXPECT_EQ(host()["params"]["progressToken"], "again");
  server_says(result(ours, {{"content", Tree::array()}}));
  EXPECT_EQ(host()["id"], 5);
  EXPECT_EQ(due_, std::nullopt);
}

TEST_F(ParkingTest, QuestionsOfOneMomentGoTogether) {
  shake_hands();
  call(1);
  server_says(request("a", "elicitation/create", {{"message", "?"}}));
  pass(bridge_, 19ms);
  server_says(request("b", "roots/list"));
  pass(bridge_, 1ms);
  EXPECT_EQ(host()["result"]["inputRequests"].size(), 2U);
}

TEST_F(ParkingTest, WhatARetryLeavesUnansweredIsAskedAgain) {
  shake_hands();
  call(1);
  server_says(request("a", "sampling/createMessage", {{"messages", Tree::array()}}));
  const Tree asked = parked("b");
  ASSERT_EQ(asked["result"]["inputRequests"].size(), 2U);
  retry(2, asked, {{"request-1", {{"model", "m"}}}});
  EXPECT_EQ(server()["id"], "a");
  const Tree again = host();
  EXPECT_EQ(again["id"], 2);
  EXPECT_EQ(again["result"]["inputRequests"].size(), 1U);
  retry(3, again, {{"request-2", {{"action", "decline"}}}});
  EXPECT_EQ(server()["id"], "b");
}

TEST_F(ParkingTest, AQuestionWhileTheHostThinksComesInTheNextRound) {
  shake_hands();
  call(1);
  const Tree asked = parked("a");
  server_says(request("b", "elicitation/create", {{"message", "More?"}}));
  EXPECT_TRUE(is_silent());
  retry(2, asked, {{"request-1", {{"action", "accept"}}}, {"request-2", {{"action", "accept"}}}});
  EXPECT_EQ(server()["id"], "a");
  EXPECT_EQ(host()["result"]["inputRequests"].size(), 1U);
}

TEST_F(ParkingTest, AStateIsGoodForOneRetryOfTheSameRequest) {
  shake_hands();
  call(1);
  const Tree asked = parked();
  const Tree answers{{"request-1", {{"action", "accept"}}}};
  retry(2, asked, answers, {{"name", "other"}});
  EXPECT_EQ(host()["error"]["code"], -32602);
  retry(2, {{"result", {{"requestState", "made up"}}}}, answers);
  EXPECT_EQ(host()["error"]["code"], -32602);
  retry(2, asked, {{"request-1", "accept"}});
  EXPECT_EQ(host()["error"]["code"], -32602);
  EXPECT_TRUE(is_silent());
  retry(2, asked, answers);
  EXPECT_EQ(server()["result"]["action"], "accept");
  retry(3, asked, answers);
  EXPECT_EQ(host()["error"]["code"], -32602);
}

TEST_F(ParkingTest, AStateOfAnotherSessionIsUnknown) {
  shake_hands();
  call(1);
  const Tree asked = parked();
  ModernOverLegacy other(BridgedServer{"files", {}}, SealBinding{.server = 1, .session = 3},
                         sealer_, tickets_, *this);
  from_host(other,
            request(1, "tools/call",
                    modern({{"name", "ask"}, {"requestState", asked["result"]["requestState"]}})));
  EXPECT_EQ(host()["error"]["code"], -32602);
}

TEST_F(ParkingTest, AStateOfAnEarlierCellIsUnknown) {
  shake_hands();
  call(1);
  const Tree before = parked();
  bridge_.fail_all(plain_failure(FailureCode::server_failed, "gone"), now_);
  bridge_.new_cell(9);
  take_host();
  shake_hands();
  call(2);
  const Tree after = parked();
  retry(3, before, {{"request-1", {{"action", "accept"}}}});
  EXPECT_EQ(host()["error"]["code"], -32602);
  const auto opens = [&](const Tree& asked, std::uint64_t cell) {
    const SealBinding whose{
        .purpose = SealPurpose::parked_call, .server = 1, .session = 2, .cell = cell};
    const auto state = asked["result"]["requestState"].get<std::string>();
    return sealer_.open(whose, state, now_).has_value();
  };
  EXPECT_TRUE(opens(before, 0));
  EXPECT_TRUE(opens(after, 9));
  EXPECT_FALSE(opens(after, 0));
}

TEST_F(ParkingTest, AClientWithoutTheCapabilityIsNotAskedAndTheCallGoesOn) {
  shake_hands();
  struct Claim {
    const char* method;
    Tree params;
    Tree capabilities;
    bool asked;
  };
  const Tree form{{"elicitation", {{"form", nothing}}}};
  for (const Claim& claim :
       {Claim{"elicitation/create", {{"message", "?"}}, nothing, false},
        Claim{"elicitation/create", {{"message", "?"}}, {{"elicitation", nothing}}, true},
        Claim{"elicitation/create", {{"message", "?"}, {"mode", "url"}}, form, false},
        Claim{"sampling/createMessage", {{"tools", Tree::array()}}, {{"sampling", nothing}}, false},
        Claim{"roots/list", nothing, form, false},
        Claim{"roots/list", nothing, {{"roots", nothing}}, true}}) {
    from_host(bridge_, request(1, "tools/call", modern({{"name", "x"}}, claim.capabilities)));
    const Tree ours = server()["id"];
    server_says(request(9, claim.method, claim.params));
    if (claim.asked) {
      EXPECT_TRUE(is_silent()) << claim.method;
    } else {
      EXPECT_EQ(server()["error"]["code"], -32601) << claim.method;
    }
    server_says(result(ours, nothing));
    EXPECT_EQ(host()["result"]["resultType"], "complete");
    take_server();
  }
  EXPECT_EQ(notes_, (std::vector<std::string>(4, "client_capabilities")));
}

TEST_F(ParkingTest, AQuestionThatMayBelongToTwoCallsOrToNoneIsRefused) {
  shake_hands();
  server_says(request(0, "roots/list"));
  EXPECT_EQ(server()["error"]["code"], -32601);
  call(1);
  call(2);
  server_says(request(1, "elicitation/create", {{"message", "?"}}));
  EXPECT_EQ(server()["error"]["code"], -32601);
  EXPECT_EQ(notes_, (std::vector<std::string>{"unattributable", "unattributable"}));
  EXPECT_EQ(due_, std::nullopt);
}

TEST_F(ParkingTest, QuestionsOfOneCallAreBounded) {
  shake_hands();
  call(1);
  server_says(request("big", "elicitation/create",
                      {{"message", std::string(ParkedCalls::max_question_bytes, 'x')}}));
  EXPECT_EQ(server()["id"], "big");
  for (std::size_t i = 0; i < ParkedCalls::max_questions; ++i)
    server_says(request(i, "roots/list"));
  EXPECT_TRUE(is_silent());
  server_says(request("more", "roots/list"));
  EXPECT_EQ(server()["id"], "more");
  EXPECT_EQ(notes_, (std::vector<std::string>{"too_large", "too_many_questions"}));
}

TEST_F(ParkingTest, PingsAreAnsweredAndOtherRequestsRefused) {
  shake_hands();
  server_says(request(3, "ping"));
  EXPECT_EQ(server()["result"], nothing);
  server_says(request(4, "tools/list"));
  EXPECT_EQ(server()["error"]["code"], -32601);
}

// --- races -----------------------------------------------------------------------------------

TEST_F(ParkingTest, AnAnswerBeforeTheHostIsAskedWins) {
  shake_hands();
  const Tree ours = call(1);
  server_says(request("q", "elicitation/create", {{"message", "?"}}));
  server_says(result(ours, nothing));
  EXPECT_EQ(host()["result"]["resultType"], "complete");
  EXPECT_EQ(server()["result"]["action"], "cancel");
  pass(bridge_, 1s);
  EXPECT_TRUE(is_silent());
}

TEST_F(ParkingTest, AnAnswerWhileParkedWaitsForTheRetry) {
  shake_hands();
  const Tree ours = call(1);
  const Tree asked = parked("q");
  server_says(result(ours, {{"content", {"done"}}}));
  EXPECT_EQ(server()["result"]["action"], "cancel");
  retry(2, asked, {{"request-1", {{"action", "accept"}}}});
  const Tree said = host();
  EXPECT_EQ(said["id"], 2);
  EXPECT_EQ(said["result"]["content"], Tree::array({"done"}));
  EXPECT_TRUE(is_silent());
}

TEST_F(ParkingTest, ACancelBeforeTheHostIsAskedEndsCallAndQuestion) {
  shake_hands();
  const Tree ours = call(1);
  server_says(request("q", "elicitation/create", {{"message", "?"}}));
  from_host(bridge_, notification("notifications/cancelled", {{"requestId", 1}}));
  const auto said = take_server();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["params"]["requestId"], ours);
  EXPECT_EQ(said[1]["result"]["action"], "cancel");
  pass(bridge_, 1s);
  EXPECT_TRUE(is_silent());
}

TEST_F(ParkingTest, AWithdrawnQuestionIsNotAsked) {
  shake_hands();
  call(1);
  server_says(request("q", "elicitation/create", {{"message", "?"}}));
  server_says(notification("notifications/cancelled", {{"requestId", "q"}}));
  pass(bridge_, 1s);
  EXPECT_TRUE(is_silent());
}

TEST_F(ParkingTest, ARetryThatComesTooLateFindsNothing) {
  shake_hands();
  const Tree ours = call(1);
  const Tree asked = parked("q");
  pass(bridge_, ParkedCalls::patience - 1ms);
  EXPECT_TRUE(is_silent());
  pass(bridge_, 1ms);
  const auto said = take_server();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["params"]["requestId"], ours);
  EXPECT_EQ(said[1]["result"]["action"], "cancel");
  retry(2, asked, {{"request-1", {{"action", "accept"}}}});
  EXPECT_EQ(host()["error"]["code"], -32602);
  EXPECT_EQ(due_, std::nullopt);
}

TEST_F(ParkingTest, ARetryAtTheLastMomentIsInTime) {
  shake_hands();
  call(1);
  const Tree asked = parked("q");
  pass(bridge_, ParkedCalls::patience - 1ms);
  retry(2, asked, {{"request-1", {{"action", "accept"}}}});
  EXPECT_EQ(server()["result"]["action"], "accept");
  pass(bridge_, 1s);
  EXPECT_TRUE(is_silent());
}

TEST_F(ParkingTest, TheEndOfTheServerAnswersEachRequestOnceAndThenTheRetry) {
  shake_hands();
  call(1);
  const Tree asked = parked("q");
  call(2);
  ask(3, "subscriptions/listen", {{"notifications", nothing}});
  take_host();
  bridge_.fail_all(plain_failure(FailureCode::server_failed, "died"), now_);
  const auto said = take_host();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["id"], 2);
  EXPECT_EQ(said[0]["result"]["isError"], true);
  EXPECT_EQ(said[1]["id"], 3);
  EXPECT_EQ(bridge_.in_flight(), 0U);
  bridge_.fail_all(plain_failure(FailureCode::server_failed, "died"), now_);
  EXPECT_TRUE(is_silent());
  retry(4, asked, {{"request-1", {{"action", "accept"}}}});
  EXPECT_EQ(host()["result"]["isError"], true);
  EXPECT_TRUE(is_silent());
}

TEST_F(ParkingTest, TheEndOfTheHostCancelsWhatIsAtTheServer) {
  shake_hands();
  const Tree first = call(1);
  parked("q");
  const Tree second = call(2);
  bridge_.cancel_all("host closed", now_);
  const auto said = take_server();
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[0]["params"]["requestId"], first);
  EXPECT_EQ(said[1]["id"], "q");
  EXPECT_EQ(said[2]["params"]["requestId"], second);
  EXPECT_EQ(due_, std::nullopt);
}

// --- URLs ------------------------------------------------------------------------------------

const Tree url_data{{"elicitations",
                     {{{"mode", "url"},
                       {"elicitationId", "e1"},
                       {"url", "https://a.example/"},
                       {"message", "Sign in"}}}}};

TEST_F(ParkingTest, AVisitToAUrlIsAskedForAndThenTheCallIsMadeAgain) {
  shake_hands();
  server_says(error(call(1), -32042, "visit", url_data));
  const Tree asked = host();
  EXPECT_EQ(
      asked["result"]["inputRequests"]["url-1"]["params"],
      (Tree{
          {"mode", "url"}, {"url", "https://a.example/"}, {"message", "[server files] Sign in"}}));
  retry(2, asked, {{"url-1", {{"action", "accept"}}}});
  const Tree again = server();
  EXPECT_EQ(again["params"], (Tree{{"name", "ask"}}));
  server_says(result(again["id"], {{"content", Tree::array()}}));
  EXPECT_EQ(host()["id"], 2);
}

TEST_F(ParkingTest, ADeclinedVisitFailsTheCall) {
  shake_hands();
  server_says(error(call(1), -32042, "visit", url_data));
  retry(2, host(), {{"url-1", {{"action", "decline"}}}});
  EXPECT_EQ(host()["result"]["isError"], true);
}

TEST_F(ParkingTest, AClientThatVisitsNoUrlHearsWhatItLacks) {
  shake_hands();
  from_host(bridge_, request(1, "tools/call", modern({{"name", "x"}}, nothing)));
  server_says(error(server()["id"], -32042, "visit", url_data));
  const Tree said = host()["error"];
  EXPECT_EQ(said["code"], -32021);
  EXPECT_EQ(said["data"]["requiredCapabilities"], (Tree{{"elicitation", {{"url", nothing}}}}));
}

}  // namespace
}  // namespace cellblock::gateway
