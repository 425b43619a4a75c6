#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "supervisor/gateway/route/session_replay.h"

// What the next cell of a server is told of a legacy host's session.

namespace cellblock::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* told =
    R"({"protocolVersion":"2025-11-25","capabilities":{"logging":{},"resources":{"subscribe":true,)"
    R"("listChanged":true},"tools":{"listChanged":false}},"serverInfo":{"name":"s","version":"1"}})";

class RevivalTest : public ::testing::Test {
 protected:
  template <typename Read>
  auto read(std::string text, Read then) {
    const std::size_t size = text.size();
    text.resize(size + MessageScanner::padding);
    const auto line = std::string_view(text).substr(0, size);
    const auto message = scanner_.scan(line);
    EXPECT_TRUE(message) << line;
    return then(line, *message);
  }
  void host(std::string text) {
    read(std::move(text), [this](auto line, const Message& message) {
      replay_.from_host(line, message);
      return 0;
    });
  }
  bool answer(std::string_view id, std::string_view body) {
    return read(
        R"({"jsonrpc":"2.0","id":)" + std::string(id) + "," + std::string(body) + "}",
        [this](auto line, const Message& message) { return replay_.answered(line, message); });
  }
  void ask(std::string_view id, std::string_view method, std::string_view params) {
    host(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) +
         R"(","params":)" + std::string(params) + "}");
  }
  void introduce(std::string_view result = told) {
    ask("1", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"roots":{}}})");
    EXPECT_FALSE(answer("1", R"("result":)" + std::string(result)));
    host(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }
  void subscribe(std::string_view uri) {
    ask("2", "resources/subscribe", R"({"uri":")" + std::string(uri) + R"("})");
    EXPECT_FALSE(answer("2", R"("result":{})"));
  }
  /// The new cell's answer to `initialize`.
  SessionReplay::Outcome next_cell_answers(std::string_view body) {
    replay_.cell_lost();
    EXPECT_TRUE(replay_.is_due());
    const Json begun = Json::parse(replay_.begin());
    EXPECT_EQ(begun["method"], "initialize");
    EXPECT_TRUE(replay_.is_under_way());
    EXPECT_TRUE(answer(begun["id"].dump(), body));
    const SessionReplay::Outcome outcome = replay_.take_outcome();
    EXPECT_EQ(replay_.take_outcome(), SessionReplay::Outcome::none);
    EXPECT_FALSE(replay_.is_under_way());
    return outcome;
  }
  std::vector<std::string> methods_of_rest() {
    std::vector<std::string> methods;
    for (const std::string& text : replay_.rest()) {
      const Json json = Json::parse(text);
      methods.push_back(json["method"].get<std::string>());
      if (json.contains("params")) methods.back() += " " + json["params"].dump();
    }
    return methods;
  }

  MessageScanner scanner_;
  SessionReplay replay_;
};

TEST_F(RevivalTest, ASessionThatNobodyBeganCannotBeTakenOn) {
  EXPECT_FALSE(replay_.is_possible());
  replay_.cell_lost();
  EXPECT_FALSE(replay_.is_due());
}

TEST_F(RevivalTest, ARefusedInitializeBeginsNone) {
  ask("1", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})");
  EXPECT_TRUE(replay_.listens());
  EXPECT_FALSE(answer("1", R"("error":{"code":-32602,"message":"no"})"));
  EXPECT_FALSE(replay_.is_possible());
  EXPECT_FALSE(replay_.listens());
}

TEST_F(RevivalTest, TheNextCellHearsWhatTheHostHasSaid) {
  introduce();
  ask("3", "logging/setLevel", R"({"level":"debug"})");
  answer("3", R"("result":{})");
  subscribe("file:///a");
  subscribe("file:///b");
  replay_.cell_lost();
  const Json begun = Json::parse(replay_.begin());
  EXPECT_EQ(begun["params"],
            Json::parse(R"({"protocolVersion":"2025-11-25","capabilities":{"roots":{}}})"));
  EXPECT_TRUE(answer(begun["id"].dump(), R"("result":)" + std::string(told)));
  EXPECT_EQ(replay_.take_outcome(), SessionReplay::Outcome::agreed);
  EXPECT_THAT(methods_of_rest(),
              ElementsAre("notifications/initialized", R"(logging/setLevel {"level":"debug"})",
                          R"(resources/subscribe {"uri":"file:///a"})",
                          R"(resources/subscribe {"uri":"file:///b"})"));
}

TEST_F(RevivalTest, ItHearsNothingThatTheServerRefusedOrTheHostTookBack) {
  introduce();
  ask("3", "logging/setLevel", R"({"level":"loud"})");
  answer("3", R"("error":{"code":-32602,"message":"no"})");
  subscribe("file:///a");
  ask("4", "resources/unsubscribe", R"({"uri":"file:///a"})");
  ask("5", "resources/subscribe", R"({"uri":"file:///b"})");
  host(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})");
  answer("5", R"("result":{})");
  EXPECT_EQ(next_cell_answers(R"("result":)" + std::string(told)), SessionReplay::Outcome::agreed);
  EXPECT_THAT(methods_of_rest(), ElementsAre("notifications/initialized"));
}

TEST_F(RevivalTest, AHostThatHasNotSaidInitializedSaysItItself) {
  ask("1", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})");
  answer("1", R"("result":)" + std::string(told));
  EXPECT_EQ(next_cell_answers(R"("result":)" + std::string(told)), SessionReplay::Outcome::agreed);
  EXPECT_THAT(replay_.rest(), IsEmpty());
  EXPECT_THAT(replay_.missed(), IsEmpty());
}

TEST_F(RevivalTest, AnswersToWhatItSaysAreNotTheHosts) {
  introduce();
  subscribe("file:///a");
  EXPECT_EQ(next_cell_answers(R"("result":)" + std::string(told)), SessionReplay::Outcome::agreed);
  const std::vector<std::string> rest = replay_.rest();
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_TRUE(replay_.listens());
  EXPECT_FALSE(answer("7", R"("result":{})"));
  EXPECT_TRUE(answer(Json::parse(rest[1])["id"].dump(), R"("result":{})"));
  EXPECT_FALSE(replay_.listens());
}

TEST_F(RevivalTest, TheHostHearsOfWhatItMayHaveMissed) {
  introduce();
  subscribe("file:///a");
  EXPECT_THAT(
      replay_.missed(),
      ElementsAre(HasSubstr("notifications/resources/list_changed"),
                  HasSubstr(R"("notifications/resources/updated","params":{"uri":"file:///a"})")));
}

TEST_F(RevivalTest, ACellThatAnswersOtherwiseIsRefused) {
  struct Row {
    const char* sentence;
    const char* body;
    const char* refusal;
  };
  for (const Row& row :
       {Row{"another version",
            R"("result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{}}})",
            "it answered initialize with protocol version \"2025-06-18\", not \"2025-11-25\""},
        Row{"a capability less",
            R"("result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{},"tools":{}}})",
            "it no longer has the capability resources"},
        Row{"a part of a capability less",
            R"("result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{},"tools":{},)"
            R"("resources":{"subscribe":false,"listChanged":true}}})",
            "it no longer has the capability resources.subscribe"},
        Row{"an error", R"("error":{"code":-32603,"message":"no licence"})",
            "it refused initialize: no licence"}}) {
    introduce();
    EXPECT_EQ(next_cell_answers(row.body), SessionReplay::Outcome::refused) << row.sentence;
    EXPECT_EQ(replay_.refusal(), row.refusal);
    EXPECT_FALSE(replay_.is_possible()) << row.sentence;
  }
}

TEST_F(RevivalTest, ACellThatCanDoMoreIsAsGood) {
  introduce();
  EXPECT_EQ(
      next_cell_answers(
          R"("result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{},"prompts":{},)"
          R"("resources":{"subscribe":true,"listChanged":true},"tools":{"listChanged":true}}})"),
      SessionReplay::Outcome::agreed);
}

TEST_F(RevivalTest, ACellThatIsLostMeanwhileLeavesItToTheNextOne) {
  introduce();
  replay_.cell_lost();
  const Json begun = Json::parse(replay_.begin());
  EXPECT_TRUE(answer(begun["id"].dump(), R"("error":{"code":-32000,"message":"it crashed"})"));
  replay_.cell_lost();
  EXPECT_EQ(replay_.take_outcome(), SessionReplay::Outcome::none);
  EXPECT_TRUE(replay_.is_due());
}

TEST_F(RevivalTest, WhatABridgeKnowsNeedsNotBeSaidAgain) {
  introduce();
  replay_.cell_lost();
  replay_.carried();
  EXPECT_FALSE(replay_.is_due());
  EXPECT_TRUE(replay_.is_possible());
}

TEST_F(RevivalTest, ASecondInitializeBeginsAnew) {
  introduce();
  subscribe("file:///a");
  introduce(R"({"protocolVersion":"2025-06-18","capabilities":{}})");
  EXPECT_EQ(next_cell_answers(R"("result":{"protocolVersion":"2025-06-18","capabilities":{}})"),
            SessionReplay::Outcome::agreed);
  EXPECT_THAT(methods_of_rest(), ElementsAre("notifications/initialized"));
}

TEST_F(RevivalTest, WhatIsNotAnsweredYetIsBoundedTogetherWithTheRest) {
  introduce();
  const std::string uri(SessionReplay::max_bytes / 4, 'x');
  for (const char* id : {"11", "12", "13"}) {
    ask(id, "resources/subscribe", R"({"uri":")" + uri + R"("})");
  }
  EXPECT_TRUE(replay_.is_possible());
  ask("14", "resources/subscribe", R"({"uri":")" + uri + R"("})");
  EXPECT_FALSE(replay_.is_possible());
}

TEST_F(RevivalTest, WhatOnlyALaxServerTakesIsNotSaidToAnother) {
  introduce();
  ask("2", "resources/subscribe", R"({"uri":7})");
  EXPECT_FALSE(answer("2", R"("result":{})"));
  ask("3", "logging/setLevel", R"({"level":null})");
  EXPECT_FALSE(answer("3", R"("result":{})"));
  EXPECT_FALSE(replay_.has_subscriptions());
  EXPECT_TRUE(SessionReplay::from_kept(replay_.kept().value()).has_value());
}

TEST_F(RevivalTest, WhatIsTooMuchToBeKeptEndsWithItsCell) {
  introduce();
  for (std::size_t i = 0; i < SessionReplay::most_subscriptions; ++i) {
    subscribe("file:///" + std::to_string(i));
  }
  EXPECT_TRUE(replay_.is_possible());
  subscribe("file:///one more");
  EXPECT_FALSE(replay_.is_possible());
  introduce();
  EXPECT_TRUE(replay_.is_possible());
  subscribe("file:///" + std::string(SessionReplay::max_bytes, 'x'));
  EXPECT_FALSE(replay_.is_possible());
}

}  // namespace
}  // namespace cellblock::gateway
