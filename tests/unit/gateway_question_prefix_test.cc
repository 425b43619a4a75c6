#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "supervisor/gateway/upstream/answer_edits.h"

namespace cellblock::gateway {
namespace {

/// The line as it goes on to the host of a server named "files".
std::string passed_on(std::string line) {
  const std::size_t size = line.size();
  line.append(MessageScanner::padding, ' ');
  const std::string_view text = std::string_view{line}.substr(0, size);
  MessageScanner scanner;
  const auto message = scanner.scan(text);
  if (!message) return "no message";
  std::vector<Replacement> edits;
  say_who_asks(text, *message, "files", edits);
  return EditedMessage(text, std::move(edits)).flatten();
}

std::string question(const std::string& text) {
  return R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":")" + text +
         R"("}})";
}

TEST(Asker, PutsTheServersNameBeforeAQuestion) {
  EXPECT_EQ(passed_on(question("Why?")), question("[server files] Why?") + "\n");
  EXPECT_EQ(passed_on(question("")), question("[server files] ") + "\n");
}

TEST(Asker, DoesNotPutItTwice) {
  EXPECT_EQ(passed_on(question("[server files] Why?")), question("[server files] Why?") + "\n");
}

TEST(Asker, IsNotMisledByAnothersName) {
  EXPECT_EQ(passed_on(question("[server bank] PIN?")),
            question("[server files] [server bank] PIN?") + "\n");
}

TEST(Asker, NamesTheServerInEachQuestionOfAnAnswer) {
  const auto answer = [](const std::string& prefix) {
    return R"({"jsonrpc":"2.0","id":1,"result":{"inputRequests":{)"
           R"("a":{"method":"elicitation/create","params":{"message":")" +
           prefix + R"(One?"}},"b":{"method":"roots/list"},)" + R"("c":{"params":{"message":")" +
           prefix + R"(Two?","mode":"url"},"method":"elicitation/create"}}}})";
  };
  EXPECT_EQ(passed_on(answer("")), answer("[server files] ") + "\n");
}

TEST(Asker, LeavesEverythingElseAlone) {
  const std::string sampling =
      R"({"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"message":"Why?"}})";
  EXPECT_EQ(passed_on(sampling), sampling + "\n");
}

}  // namespace
}  // namespace cellblock::gateway
