#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policy/tool_search/search_terms.h"
#include "policy/tool_search/tool_ranking.h"

// What finds a tool by words: terms, documents and their ranking.

namespace cellblock {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> terms(std::string_view text) { return terms_of(text, 100); }

std::vector<std::string> found(const std::vector<ToolDocument>& documents, std::string_view words,
                               std::size_t most = 5) {
  std::vector<std::string> names;
  for (const RankedTool& tool : rank_tools(documents, words, most).tools) {
    names.push_back(documents[tool.index].name);
  }
  return names;
}

const std::vector<ToolDocument>& some_tools() {
  static const std::vector<ToolDocument> tools{
      {.name = "files__read_text_file",
       .title = {},
       .description = "Reads a file as text.",
       .parameters = "path"},
      {.name = "files__list_directory",
       .title = {},
       .description = "Lists what is in a directory.",
       .parameters = "path"},
      {.name = "git__create_branch",
       .title = {},
       .description = "Creates a branch.",
       .parameters = "name"},
      {.name = "chat__post_message",
       .title = "Say something",
       .description = "Sends text to a channel.",
       .parameters = "channel text"},
  };
  return tools;
}

TEST(SearchTerms, AreTheSameHoweverAToolIsSpelt) {
  const auto expected = ElementsAre("read", "text", "file", "2");
  EXPECT_THAT(terms("readTextFiles2"), expected);
  EXPECT_THAT(terms("read_text_files-2"), expected);
  EXPECT_THAT(terms("Read text files (2)"), expected);
  EXPECT_THAT(terms("HTMLPage"), ElementsAre("html", "page"));
  EXPECT_THAT(terms(""), IsEmpty());
  EXPECT_THAT(terms("__--  ..\n"), IsEmpty());
}

TEST(SearchTerms, LoseTheirEnglishEndings) {
  for (const char* word : {"create", "creates", "created", "creating"}) {
    EXPECT_EQ(stem_of(word), "creat") << word;
  }
  for (const char* word : {"move", "moves", "moved", "moving"}) EXPECT_EQ(stem_of(word), "move");
  for (const char* word : {"get", "gets", "getting"}) EXPECT_EQ(stem_of(word), "get") << word;
  for (const char* word : {"directory", "directories"}) EXPECT_EQ(stem_of(word), "directory");
  for (const char* word : {"status", "process", "bus", "ring", "red", "s", ""}) {
    EXPECT_EQ(stem_of(word), word);
  }
}

TEST(SearchTerms, OfScriptsWithoutSpacesAreTheirCharacters) {
  EXPECT_THAT(terms("ファイル read"), ElementsAre("フ", "ァ", "イ", "ル", "read"));
  EXPECT_THAT(terms("größe"), ElementsAre("größe"));
}

TEST(SearchTerms, AreBoundedWhateverTheTextIs) {
  EXPECT_THAT(terms_of(std::string(1'000'000, 'x'), 100), ElementsAre(std::string(40, 'x')));
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "a ";
  EXPECT_THAT(terms_of(many, 100), SizeIs(100));
  EXPECT_THAT(query_terms(many), SizeIs(1));
  std::string different;
  for (char c = 'b'; c < 'z'; ++c) different += std::string(2, c) + "x" + c + " ";
  different += different + "qqq rrr sss ttt";
  EXPECT_LE(query_terms(different).size(), max_query_terms);
  EXPECT_THAT(terms("\xff\xfe\xc3 \xe2\x82"), SizeIs(2));
}

TEST(SearchTerms, OfAQuestionLeaveOutWhatIsInEveryQuestion) {
  EXPECT_THAT(query_terms("How do I read the file?"), ElementsAre("read", "file"));
  EXPECT_THAT(query_terms("what is it"), ElementsAre("what", "is", "it"));
}

TEST(WordGroups, HoldWordsThatMeanTheSame) {
  EXPECT_NE(word_group("folder"), 0U);
  EXPECT_EQ(word_group("folder"), word_group("directory"));
  EXPECT_EQ(word_group(stem_of("deletes")), word_group(stem_of("removing")));
  EXPECT_NE(word_group("folder"), word_group("picture"));
  EXPECT_EQ(word_group("zebra"), 0U);
  EXPECT_EQ(word_group(""), 0U);
}

TEST(ToolDocument, HasWhatAModelReads) {
  const auto document = tool_document(
      R"({"name":"a","title":"A","description":"Does \u0022it\u0022.","inputSchema":{"type":"object",)"
      R"("properties":{"path":{"type":"string","description":"Where."},"deep":{"x":{"description":"no"}}}}})");
  EXPECT_EQ(document.name, "a");
  EXPECT_EQ(document.title, "A");
  EXPECT_EQ(document.description, "Does \"it\".");
  EXPECT_EQ(document.parameters, "path Where. deep  ");
}

TEST(ToolDocument, IsEmptyOfWhatIsNoTool) {
  for (const char* text : {"", "1", "[]", "{}", R"({"name":1})", R"({"description":"x"})"}) {
    EXPECT_EQ(tool_document(text).name, "") << text;
  }
}

TEST(ToolDocument, IsBoundedWhateverItsServerWrites) {
  std::string schema = R"({"properties":{)";
  for (int i = 0; i < 5'000; ++i)
    schema += "\"p" + std::to_string(i) + R"(":{"description":"word"},)";
  schema += R"("last":{}}})";
  const auto document =
      tool_document(R"({"name":"a","description":")" + std::string(1'000'000, 'd') +
                    R"(","inputSchema":)" + schema + "}");
  EXPECT_EQ(document.description.size(), max_searched_description);
  EXPECT_LE(document.parameters.size(), max_searched_parameters + 2);
  EXPECT_EQ(document.parameters.find("p128 "), std::string::npos);
}

TEST(ToolRanking, PutsTheToolFirstThatHasTheWords) {
  EXPECT_EQ(found(some_tools(), "read a text file").front(), "files__read_text_file");
  EXPECT_EQ(found(some_tools(), "say something to the channel").front(), "chat__post_message");
  EXPECT_EQ(found(some_tools(), "CREATING BRANCHES").front(), "git__create_branch");
}

TEST(ToolRanking, KnowsWordsThatMeanTheSameAndBeginnings) {
  EXPECT_EQ(found(some_tools(), "show the folder").front(), "files__list_directory");
  EXPECT_EQ(found(some_tools(), "dire").front(), "files__list_directory");
  EXPECT_THAT(found(some_tools(), "dir"), IsEmpty());
}

TEST(ToolRanking, PutsAWholeNameBeforeAllElse) {
  std::vector<ToolDocument> tools = some_tools();
  tools.push_back({.name = "git__create_branch_create_branch",
                   .title = "git create branch",
                   .description = "git create branch",
                   .parameters = {}});
  EXPECT_EQ(found(tools, " git__create_branch\n").front(), "git__create_branch");
}

TEST(ToolRanking, FindsNothingForNothing) {
  EXPECT_THAT(found(some_tools(), ""), IsEmpty());
  EXPECT_THAT(found(some_tools(), "zebra"), IsEmpty());
  EXPECT_THAT(found({}, "read"), IsEmpty());
  EXPECT_THAT(found(some_tools(), "read", 0), IsEmpty());
}

TEST(ToolRanking, KeepsTheOrderOfEqualsAndTheBound) {
  std::vector<ToolDocument> tools;
  for (int i = 0; i < 50; ++i) {
    tools.push_back(
        {.name = "read_" + std::to_string(i), .title = {}, .description = {}, .parameters = {}});
  }
  EXPECT_THAT(found(tools, "read", 3), ElementsAre("read_0", "read_1", "read_2"));
}

// A server that writes a word a thousand times gains little by it.
TEST(ToolRanking, IsNotBoughtByRepetition) {
  std::string stuffed;
  for (int i = 0; i < 1'000; ++i) stuffed += "read text file ";
  std::vector<ToolDocument> tools = some_tools();
  tools.push_back({.name = "evil__tool", .title = {}, .description = stuffed, .parameters = {}});
  EXPECT_EQ(found(tools, "read a text file").front(), "files__read_text_file");
}

// A digit after a letter is a term of its own, so this has one for each byte.
std::vector<ToolDocument> tools_of_one_byte_terms(std::size_t count) {
  std::string text;
  while (text.size() < max_searched_description) text += "a1";
  return {count, {.name = "long", .title = {}, .description = text, .parameters = text}};
}

TEST(ToolRanking, CountsABoundedNumberOfTermsAndSaysSo) {
  EXPECT_FALSE(rank_tools(some_tools(), "read", 5).is_cut);
  EXPECT_FALSE(rank_tools(tools_of_one_byte_terms(100), "read", 5).is_cut);
  EXPECT_TRUE(rank_tools(tools_of_one_byte_terms(400), "read", 5).is_cut);
}

TEST(ToolRanking, FindsShortToolsAmongLongOnesThatAreCut) {
  std::vector<ToolDocument> tools = tools_of_one_byte_terms(400);
  tools.insert(tools.end(), some_tools().begin(), some_tools().end());
  EXPECT_EQ(found(tools, "show the folder").front(), "files__list_directory");
  EXPECT_EQ(found(tools, "files__read_text_file").front(), "files__read_text_file");
}

}  // namespace
}  // namespace cellblock
