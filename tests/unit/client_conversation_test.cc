#include <gmock/gmock.h>

#include "client/connection/conversation.h"
#include "client/connection/rpc_text.h"

namespace cellblock::client {
namespace {

using ::testing::HasSubstr;

Result<Event> receive(Conversation& conversation, std::string line) {
  const auto length = line.size();
  line.append(MessageScanner::padding, ' ');
  return conversation.receive(std::string_view(line).substr(0, length));
}

template <class T>
T expect(Result<Event> event) {
  EXPECT_TRUE(event) << event.error().text;
  EXPECT_TRUE(std::holds_alternative<T>(*event)) << "event " << event->index();
  return std::get<T>(*event);
}

TEST(Conversation, GivesTheResultByteForByte) {
  Conversation conversation({});
  const auto call = conversation.open("tools/call", R"({"name":"a"})");
  EXPECT_EQ(call->line, R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}})"
                        "\n");
  const auto answer = expect<Answered>(
      receive(conversation, R"({"jsonrpc":"2.0","id":1,"result":{ "z":1.0,"a":2 }})"));
  EXPECT_EQ(answer.id, 1U);
  EXPECT_EQ(*answer.result, R"({ "z":1.0,"a":2 })");
}

TEST(Conversation, PutsParametersOnOneLine) {
  Conversation conversation({});
  EXPECT_THAT(conversation.open("m", "{\n \"a\":\r\n 1}")->line, HasSubstr("{  \"a\":   1}}\n"));
}

TEST(Conversation, RefusesParametersThatAreNoObject) {
  Conversation conversation({});
  for (const auto* params : {"", "[]", "3", "{", "{}{}", " "}) {
    const auto call = conversation.open("m", params);
    ASSERT_FALSE(call) << params;
    EXPECT_EQ(call.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Conversation, BoundsWhatItSends) {
  Conversation conversation({.outgoing_line = 60});
  EXPECT_EQ(conversation.open("m", R"({"a":"0123456789012345678901234567890"})").error().code,
            ErrorCode::too_large);
  EXPECT_TRUE(conversation.open("m", "{}"));
}

TEST(Conversation, BoundsTheCallsInFlight) {
  Conversation conversation({.calls_in_flight = 1});
  const auto first = conversation.open("m", "{}");
  EXPECT_EQ(conversation.open("m", "{}").error().code, ErrorCode::too_many);
  (void)conversation.give_up(first->id, "");
  EXPECT_TRUE(conversation.open("m", "{}"));
}

TEST(Conversation, TellsTheServerWhenACallIsGivenUp) {
  Conversation conversation({});
  const auto call = conversation.open("tools/call", "{}");
  EXPECT_EQ(
      conversation.give_up(call->id, "deadline passed"),
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"deadline passed"}})"
      "\n");
  expect<Ignored>(receive(conversation, R"({"jsonrpc":"2.0","id":1,"result":{}})"));
}

TEST(Conversation, NeverCancelsTheHandshake) {
  Conversation conversation({});
  EXPECT_EQ(conversation.give_up(conversation.open("initialize", "{}")->id, ""), std::nullopt);
  EXPECT_EQ(conversation.give_up(conversation.open("cellblock/attach", "{}")->id, ""),
            std::nullopt);
}

TEST(Conversation, TranslatesTheDaemonsFailures) {
  Conversation conversation({});
  (void)conversation.open("m", "{}");
  const auto answer = expect<Answered>(receive(
      conversation,
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-31003,"message":"gone","data":{"advice":"wait"}}})"));
  EXPECT_EQ(answer.result.error(), (Error{.code = ErrorCode::server_failed,
                                          .text = "gone",
                                          .rpc_code = -31003,
                                          .data = R"({"advice":"wait"})",
                                          .failure = "server_failed",
                                          .advice = "wait"}));
}

TEST(Conversation, TakesAnErrorWithoutAnIdForAllOpenCalls) {
  Conversation conversation({});
  const auto failed = expect<FailedUnnamed>(
      receive(conversation, R"({"jsonrpc":"2.0","error":{"code":-31006,"message":"too many"}})"));
  EXPECT_EQ(failed.error.code, ErrorCode::too_many);
}

TEST(Conversation, KnowsNotificationsAndRequests) {
  Conversation conversation({});
  const auto told = expect<Notified>(receive(
      conversation, R"({"jsonrpc":"2.0","method":"notifications/message","params":{"a":1}})"));
  EXPECT_EQ(told.params, R"({"a":1})");
  const auto asked =
      expect<Asked>(receive(conversation, R"({"jsonrpc":"2.0","id":"x","method":"roots/list"})"));
  EXPECT_EQ(*conversation.answer(asked.id, R"({"roots":[]})"),
            R"({"jsonrpc":"2.0","id":"x","result":{"roots":[]}})"
            "\n");
}

TEST(Conversation, IgnoresAnswersToWhatItNeverAsked) {
  Conversation conversation({});
  for (const auto* id : {"7", "\"1\"", "-1", "99999999999"}) {
    expect<Ignored>(
        receive(conversation, std::string(R"({"jsonrpc":"2.0","id":)") + id + R"(,"result":{}})"));
  }
}

TEST(Conversation, EndsOnWhatIsNotJsonRpc) {
  Conversation conversation({});
  EXPECT_EQ(receive(conversation, "hello").error().code, ErrorCode::protocol);
}

TEST(RpcText, QuotesWhatIsNotUtf8) {
  EXPECT_EQ(json_string("a\xff\"\n"), "\"a\xEF\xBF\xBD\\\"\\n\"");
}

TEST(LongLine, HasItsIdBeforeOrBehindWhatIsLarge) {
  const auto id_in = [](const std::string& beginning, std::string_view end) {
    LongLine line(beginning + std::string(2000, 'x'), 100'000);
    EXPECT_TRUE(line.add(std::string(2000, 'x')));
    EXPECT_TRUE(line.add(end));
    return line.id();
  };
  EXPECT_EQ(id_in(R"({"jsonrpc":"2.0","id":7,"result":{"a":")", R"("}})"), "7");
  EXPECT_EQ(id_in(R"( { "id" : "a\"b" , "result":{"a":")", R"("}})"), R"("a\"b")");
  EXPECT_EQ(id_in(R"({"result":{"a":")", R"("},"jsonrpc":"2.0","id":7})"), "7");
  EXPECT_EQ(id_in(R"({"result":{"a":")", "\"}, \"id\" : 7 }\r"), "7");
}

TEST(LongLine, HasNoIdThatStandsInsideOfWhatIsLarge) {
  const auto id_in = [](const std::string& beginning, std::string_view end) {
    LongLine line(beginning + std::string(2000, 'x'), 100'000);
    EXPECT_TRUE(line.add(end));
    return line.id();
  };
  EXPECT_EQ(id_in(R"({"result":{"id":7,"a":")", R"("}})"), "");
  EXPECT_EQ(id_in(R"({"result":{"a":")", R"(","id":7}})"), "");
  EXPECT_EQ(id_in(R"({"result":{"a":")", R"(,\"id\":7}"}})"), "");
  EXPECT_EQ(id_in(R"({"result":{"a":")", R"("},"x":",\"id\":7"})"), "");
  EXPECT_EQ(id_in(R"({"id":{"a":")", R"("}})"), "");
  EXPECT_EQ(id_in("", ""), "");
}

TEST(LongLine, IsReadOnWithinABound) {
  LongLine line("{", 10);
  EXPECT_TRUE(line.add("123456789"));
  EXPECT_FALSE(line.add("0"));
}

}  // namespace
}  // namespace cellblock::client
