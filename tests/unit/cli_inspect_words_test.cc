#include <gmock/gmock.h>

#include "client/cli/inspect/completion.h"
#include "client/cli/tool_rows/inspect_command.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

InspectCommand command(const std::string& line, CommandSource source = CommandSource::arguments) {
  const auto words = split_words(line);
  EXPECT_TRUE(words) << line;
  const auto read = read_command(*words, source);
  EXPECT_TRUE(read) << line << ": " << (read ? "" : read.error().text);
  return read.value_or(InspectCommand{});
}

std::string refusal(const std::string& line, CommandSource source = CommandSource::arguments) {
  const auto words = split_words(line);
  if (!words) return words.error().text;
  const auto read = read_command(*words, source);
  return read ? "" : read.error().text;
}

TEST(InspectWords, AreSeparatedByBlanksAndKeptTogetherByQuotes) {
  EXPECT_THAT(*split_words(R"(  get  hello 'a b'  "c \"d\""  e\ f )"),
              ElementsAre("get", "hello", "a b", "c \"d\"", "e f"));
  EXPECT_THAT(*split_words(R"(x "" y)"), ElementsAre("x", "", "y"));
  EXPECT_THAT(*split_words("   "), IsEmpty());
}

TEST(InspectWords, LeaveJsonAsItIsToTheEndOfTheLine) {
  EXPECT_THAT(*split_words(R"(call echo {"message": "it's \"so\""} )"),
              ElementsAre("call", "echo", R"({"message": "it's \"so\""})"));
}

TEST(InspectWords, AreRefusedWithAnOpenQuote) {
  EXPECT_THAT(refusal("call 'x"), HasSubstr("never closed"));
}

TEST(InspectCommands, ListsAreNamedByWhatIsInThem) {
  EXPECT_EQ(command("templates").verb, Verb::list);
  EXPECT_EQ(command("templates").kind, ListKind::templates);
  EXPECT_EQ(command("prompts").kind, ListKind::prompts);
}

TEST(InspectCommands, ACallTakesAnObjectAndPairsThatReadAsJsonWhereTheyCan) {
  const auto call = command(R"(call add b=2 text=hi list=[1,2])");
  EXPECT_EQ(call.method, "tools/call");
  EXPECT_EQ(call.params,
            (Json{{"name", "add"}, {"arguments", {{"b", 2}, {"text", "hi"}, {"list", {1, 2}}}}}));
  EXPECT_EQ(command(R"(call add {"a": {"b": 1}})").params["arguments"], (Json{{"a", {{"b", 1}}}}));
}

TEST(InspectCommands, APromptsArgumentsAreTexts) {
  EXPECT_EQ(command("get ask n=2").params, (Json{{"name", "ask"}, {"arguments", {{"n", "2"}}}}));
}

TEST(InspectCommands, CompletesArgumentsOfPromptsAndOfResources) {
  EXPECT_EQ(command("complete prompt ask city Par").params,
            (Json{{"ref", {{"type", "ref/prompt"}, {"name", "ask"}}},
                  {"argument", {{"name", "city"}, {"value", "Par"}}}}));
  EXPECT_EQ(command("complete resource a://{id} id").params["ref"],
            (Json{{"type", "ref/resource"}, {"uri", "a://{id}"}}));
}

TEST(InspectCommands, RawSendsWhatIsTyped) {
  const auto raw = command(R"(raw logging/setLevel {"level":"debug"})");
  EXPECT_EQ(raw.method, "logging/setLevel");
  EXPECT_EQ(raw.params, (Json{{"level", "debug"}}));
}

TEST(InspectCommands, TakeArgumentsAsTheOtherCommandsDo) {
  const Json two{{"a", 1}, {"b", "x"}};
  for (const char* line :
       {R"(call t b=x {"a":1})", R"(call t --arg a=1 --arg b=x)", R"(call t --arg=a=1 b=x)"}) {
    EXPECT_EQ(command(line).params["arguments"], two) << line;
  }
  EXPECT_EQ(command("get p --arg a=1").params["arguments"], (Json{{"a", "1"}}));
}

TEST(InspectCommands, HaveAHelpOf80Columns) {
  const auto help = command_help(CommandSource::prompt);
  for (std::size_t begin = 0; begin < help.size();) {
    const auto end = help.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << help.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(InspectCommands, SayHowTheyAreUsedWhereTheyAreMisused) {
  EXPECT_THAT(refusal("describe server x"), HasSubstr("describe tool|prompt|resource"));
  EXPECT_THAT(refusal("read"), HasSubstr("read URI"));
  EXPECT_THAT(refusal("call t novalue"), HasSubstr("name=value"));
  EXPECT_THAT(refusal("raw ping [1]"), HasSubstr("JSON object"));
  EXPECT_THAT(refusal("raw ping {broken"), HasSubstr("JSON object"));
  EXPECT_THAT(refusal("sing"), HasSubstr("there is no command \"sing\""));
}

TEST(InspectCommands, OfThePromptAreNoArguments) {
  for (const char* word : {"help", "quit", "frames on"}) {
    EXPECT_THAT(refusal(word), HasSubstr("there is no command"));
    EXPECT_EQ(refusal(word, CommandSource::prompt), "");
  }
  EXPECT_EQ(command("exit", CommandSource::prompt).verb, Verb::quit);
}

TEST(InspectCompletion, BeginsWithCommands) {
  EXPECT_THAT(expected_after("").words, Contains("tools"));
  EXPECT_THAT(expected_after("de").words, Contains("describe"));
}

TEST(InspectCompletion, TakesNamesFromTheListThatTheWordBefore) {
  EXPECT_EQ(expected_after("call ec").list, ListKind::tools);
  EXPECT_EQ(expected_after("describe prompt ").list, ListKind::prompts);
  EXPECT_EQ(expected_after("read demo").list, ListKind::resources);
  EXPECT_EQ(expected_after("complete resource ").list, ListKind::templates);
  EXPECT_FALSE(expected_after("call echo mess").list);
}

TEST(InspectCompletion, OffersNoNameThatATerminalWouldShowOtherwise) {
  EXPECT_THAT(candidates({"echo", "ec\x1b[2J", "ec ho", "add", "ec\"x"}, "e"), ElementsAre("echo"));
  EXPECT_EQ(common_beginning({"get-sum", "get-env", "get-"}), "get-");
  EXPECT_EQ(common_beginning({}), "");
}

}  // namespace
}  // namespace cellblock::cli
