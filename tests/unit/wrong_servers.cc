#include "tests/unit/wrong_servers.h"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace cellblock::testing {
namespace {

using Reply = std::function<void(FakeConnection& peer, const std::string& line)>;

/// Does that at each line, until the client is gone.
FakeGateway::Script at_each_line(Reply reply) {
  return [reply = std::move(reply)](FakeConnection& peer) {
    while (const auto line = peer.read_line()) reply(peer, *line);
  };
}

/// Writes the same at each line.
FakeGateway::Script writing(std::string bytes) {
  return at_each_line(
      [bytes = std::move(bytes)](FakeConnection& peer, const std::string&) { peer.send(bytes); });
}

/// Answers each line with a message that has its number and these members.
FakeGateway::Script answering_with(std::string members) {
  return at_each_line([members = std::move(members)](FakeConnection& peer,
                                                     const std::string& line) {
    peer.send(R"({"jsonrpc":"2.0","id":)" + FakeConnection::id_of(line) + "," + members + "}\n");
  });
}

constexpr std::string_view progress =
    R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}})"
    "\n";
constexpr std::string_view log_message =
    R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})"
    "\n";
constexpr std::string_view question = R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})"
                                      "\n";

bool is_request(const std::string& line) {
  return line.find("\"method\"") != std::string::npos && FakeConnection::id_of(line) != "null";
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

FakeGateway::Script hanging_up(std::string last_words) {
  return [last_words = std::move(last_words)](FakeConnection& peer) {
    (void)peer.read_line();
    peer.send(last_words);
  };
}

void answer_twice(FakeConnection& peer, const std::string& line) {
  peer.answer(line, "{}");
  peer.answer(line, R"({"content":[]})");
}

// The answer to each line comes with the next one.
void answer_late(FakeConnection& peer) {
  std::optional<std::string> before;
  while (auto line = peer.read_line()) {
    if (before) peer.answer(*before, "{}");
    before = std::move(line);
  }
}

void ask_with_its_number(FakeConnection& peer, const std::string& line) {
  peer.send(R"({"jsonrpc":"2.0","id":)" + FakeConnection::id_of(line) +
            R"(,"method":"elicitation/create","params":{}})" + "\n");
  peer.answer(line, "{}");
}

void flood(FakeConnection& peer, const std::string& line) {
  peer.send(repeated(progress, 200));
  peer.answer(line, "{}");
}

}  // namespace

void silent_server(FakeConnection& peer) {
  while (peer.read_line()) continue;
}

void talkative_server(FakeConnection& peer) {
  while (const auto line = peer.read_line()) {
    peer.send(log_message);
    if (!is_request(*line)) continue;
    peer.send(progress);
    peer.send(question);
    peer.answer(*line, "{}");
  }
}

std::vector<WrongServer> wrong_servers() {
  const std::string long_text(2 * longest_line, 'x');
  return {
      {"says nothing", silent_server},
      {"hangs up", hanging_up("")},
      {"stops within a line", hanging_up(R"({"jsonrpc":"2.0","id":1,"resu)")},
      {"writes no JSON", writing("}{\n")},
      {"writes bytes that are no UTF-8", writing("{\"\xff\xfe\":1}\n")},
      {"writes a NUL", writing(std::string("{\"a\":\0}\n", 8))},
      {"writes empty lines", writing("\n\r\n \n")},
      {"nests without end", writing(repeated("[", longest_line / 2) + "\n")},
      {"never ends its line", writing(long_text)},
      {"writes a line that is too long", answering_with(R"("result":")" + long_text + "\"")},
      {"answers what nobody asked", writing(R"({"jsonrpc":"2.0","id":123456789,"result":{}})"
                                            "\n")},
      {"answers without a number", writing(R"({"jsonrpc":"2.0","id":null,"result":{}})"
                                           "\n")},
      {"answers twice", at_each_line(answer_twice)},
      {"answers late", answer_late},
      {"answers with a number", answering_with(R"("result":5)")},
      {"answers with nothing", answering_with(R"("result":null)")},
      {"answers with lists of what is no tool",
       answering_with(R"("result":{"tools":[5,{"name":7},null],"resources":{},"prompts":[[]],)"
                      R"("resourceTemplates":"x","content":[5,{"type":"text"}],"isError":"x"})")},
      {"has a next page for ever", answering_with(R"("result":{"tools":[],"resources":[],)"
                                                  R"("prompts":[],"resourceTemplates":[],)"
                                                  R"("nextCursor":"again"})")},
      {"fails with what is no error", answering_with(R"("error":"x")")},
      {"fails and answers", answering_with(R"("error":{"code":1,"message":"m"},"result":{})")},
      {"has a number twice", answering_with(R"("id":1,"result":{})")},
      {"asks with the client's number", at_each_line(ask_with_its_number)},
      {"floods", at_each_line(flood)},
  };
}

}  // namespace cellblock::testing
