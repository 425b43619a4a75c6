#include <gmock/gmock.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "policy/json/json_text.h"
#include "policy/results/bounded_result.h"
#include "policy/results/bounding_notes.h"

namespace cellblock {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr ResultBounds narrow{.max_bytes = 10'000,
                              .max_item_bytes = 10'000,
                              .max_media_bytes = 20'000,
                              .max_items = 20,
                              .max_depth = 8};

Json text_item(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

Json image(std::size_t bytes) {
  return {{"type", "image"}, {"data", std::string(bytes, 'A')}, {"mimeType", "image/png"}};
}

Json of_tool(Json content) { return {{"content", std::move(content)}}; }
// Compilers do not agree whether one value in braces is that value or an array of it.
Json of_tool(std::initializer_list<Json> items) {
  Json content = Json::array();
  for (const Json& item : items) content.push_back(item);
  return of_tool(std::move(content));
}

struct Outcome {
  bool untouched = false;
  Json result;
  std::vector<std::string> parts;
  std::size_t size = 0;
};

KeptParts all_kept(const BoundedResult& bounded) {
  KeptParts kept{.uri = "cellblock://results/abc", .bytes = {}, .reader = "reader", .life = "1 h"};
  for (const MissingPart& part : bounded.withheld()) kept.bytes.push_back(part.size());
  return kept;
}

Outcome bound(const Json& result, ResultShape shape = ResultShape::tool_call,
              LinkForm links = LinkForm::text, const ResultBounds& bounds = narrow) {
  const std::string text = result.dump();
  const auto bounded = BoundedResult::of(text, shape, links, bounds);
  if (!bounded) return {.untouched = true, .result = result};
  Outcome outcome;
  const std::string written = bounded->write(all_kept(*bounded));
  outcome.size = written.size();
  outcome.result = Json::parse(written);
  for (const MissingPart& part : bounded->withheld()) outcome.parts.push_back(part.text(1U << 30));
  return outcome;
}

std::string first_text(const Outcome& outcome) {
  return outcome.result["content"][0]["text"].get<std::string>();
}

// --- what passes ---------------------------------------------------------------------------------

TEST(Bounds, AResultThatIsShorterThanEveryBoundNeedsNoLook) {
  EXPECT_FALSE(may_exceed(10'000, ResultBounds{}));
  EXPECT_TRUE(may_exceed(40'001, ResultBounds{}));
  EXPECT_TRUE(may_exceed(300, {.max_items = 20}));
  EXPECT_FALSE(may_exceed(1U << 30, {.bounding = Bounding::off}));
}

TEST(Bounds, AResultWithinItsBoundsIsNotTouched) {
  EXPECT_TRUE(bound(of_tool({text_item(std::string(9'900, 'x'))})).untouched);
  EXPECT_TRUE(bound(of_tool({image(20'000), text_item("and a word")})).untouched);
  EXPECT_TRUE(bound(of_tool(Json::array())).untouched);
  EXPECT_TRUE(bound(Json::object()).untouched);
}

TEST(Bounds, EscapesAreCountedAsWhatTheySay) {
  const std::string newlines(9'000, '\n');  // twice as much in JSON
  EXPECT_TRUE(bound(of_tool({text_item(newlines)})).untouched);
}

TEST(Bounds, WhatAServerAsksByItsAnswerIsNotTouched) {
  Json asking = {{"resultType", "input_required"}, {"inputRequests", Json::object()}};
  asking["inputRequests"]["one"] = {{"method", "elicitation/create"},
                                    {"params", {{"message", std::string(50'000, 'x')}}}};
  EXPECT_TRUE(bound(asking).untouched);
}

TEST(Bounds, WhatAsksAndIsAResultAsWellIsBounded) {
  Json both = of_tool({text_item(std::string(300'000, 'x'))});
  both["inputRequests"] = Json::object();
  EXPECT_FALSE(bound(both).untouched);
}

TEST(Bounds, WhatIsNoObjectIsNotTouched) {
  for (const std::string text : {"[]", "1", "\"x\"", "null", "{", "{\"a\"", ""}) {
    EXPECT_FALSE(BoundedResult::of(text, ResultShape::tool_call, LinkForm::text, narrow)) << text;
  }
}

TEST(Bounds, WhatIsNoObjectIsLeftOutWhenItIsLong) {
  const Json text = std::string(50'000, 'x');
  const Json list = Json::array({text});
  for (const Json& result : {text, list}) {
    const Outcome outcome = bound(result, ResultShape::tool_call, LinkForm::resource_link);
    ASSERT_FALSE(outcome.untouched);
    EXPECT_LT(outcome.size, 2'000U);
    EXPECT_EQ(outcome.result["resultType"], "complete");
    EXPECT_EQ(outcome.result["isError"], true);
    EXPECT_THAT(first_text(outcome), HasSubstr("it is no object"));
    EXPECT_THAT(outcome.parts, ::testing::ElementsAre(result.dump()));
  }
  EXPECT_FALSE(bound(text).result.contains("resultType")) << "no other revision has it";
}

TEST(Bounds, WhatStandsForNoObjectHasTheShapeThatWasAskedFor) {
  const Json text = std::string(50'000, 'x');
  const Json read = bound(text, ResultShape::resource_read).result;
  EXPECT_EQ(read["contents"][0]["uri"], "cellblock://results/abc/1");
  const Json prompt = bound(text, ResultShape::prompt).result;
  EXPECT_EQ(prompt["messages"][0]["role"], "user");
  const Json state = bound(text, ResultShape::task_state).result;
  EXPECT_THAT(state, SizeIs(1));
  EXPECT_TRUE(state["_meta"].contains("cellblock/bounded"));
}

TEST(Bounds, WhatIsNoObjectAndNestedTooDeeplyIsLeftOut) {
  const Json deep = Json::parse(std::string(9, '[') + std::string(9, ']'));
  EXPECT_FALSE(bound(deep).untouched);
}

TEST(Bounds, WhatOnlyLooksLikeAQuestionIsBounded) {
  const Json request = {{"method", "elicitation/create"}};
  const Json one = {{"one", request}};
  const Json none = Json::object();
  const Json word = "input_required";
  for (const Json& looks :
       {Json({{"inputRequests", none}, {"resultType", word}}),
        Json({{"inputRequests", "one"}, {"resultType", word}}), Json({{"inputRequests", one}}),
        Json({{"inputRequests", one}, {"resultType", "complete"}})}) {
    Json result = looks;
    result["x"] = std::string(50'000, 'x');
    EXPECT_FALSE(bound(result).result.contains("x")) << looks;
  }
}

TEST(Bounds, AQuestionHasNothingLongBesideWhatItAsks) {
  Json asking = {{"resultType", "input_required"}, {"requestState", std::string(50'000, 's')}};
  asking["inputRequests"]["one"] = {{"message", std::string(50'000, 'q')}};
  const Json whole = asking;
  asking["x"] = std::string(50'000, 'x');
  Json shown = bound(asking).result;
  shown.erase("_meta");
  EXPECT_EQ(shown, whole);
}

TEST(Bounds, AFinishedTaskAsksNothing) {
  Json asking = {{"resultType", "input_required"}};
  asking["inputRequests"]["one"] = {{"message", std::string(50'000, 'q')}};
  EXPECT_TRUE(bound(asking).untouched);
  EXPECT_FALSE(bound(asking, ResultShape::task_result).result.contains("inputRequests"));
}

TEST(Bounds, ATasksPartsAreApartOnlyWhereTheyAreObjectsAndOfItsState) {
  const std::string text(50'000, 'x');
  Json state = {{"status", "completed"}, {"result", text}, {"error", text}};
  state["inputRequests"]["one"] = {{"message", text}};
  Json shown = bound(state, ResultShape::task_state).result;
  shown.erase("_meta");
  EXPECT_EQ(shown, Json({{"status", "completed"}}));

  state["status"] = "input_required";
  state["result"] = state["error"] = {{"long", text}};
  EXPECT_TRUE(bound(state, ResultShape::task_state).untouched);
}

TEST(Bounds, OfTwoPartsOfATaskWithOneNameTheSecondIsNotApart) {
  const std::string raw = R"({"result":{},"result":{"x":")" + std::string(50'000, 'x') + R"("}})";
  const auto bounded = BoundedResult::of(raw, ResultShape::task_state, LinkForm::text, narrow);
  ASSERT_TRUE(bounded);
  EXPECT_LT(bounded->write({}).size(), 1'000U);
}

// --- text ----------------------------------------------------------------------------------------

TEST(Bounds, ALongTextKeepsItsBeginningAndItsEndAndSaysHowToReadOn) {
  const std::string text = "begin" + std::string(100'000, '.') + "end";
  const Outcome outcome = bound(of_tool({text_item(text)}));
  const std::string shown = first_text(outcome);
  EXPECT_LE(shown.size(), narrow.max_bytes);
  EXPECT_GT(shown.size(), narrow.max_bytes - 2 * note_room);
  EXPECT_THAT(shown, AllOf(StartsWith("begin..."), EndsWith("...end")));
  const std::size_t offset = shown.find("\n\n[cellblock");
  EXPECT_THAT(shown, HasSubstr("of 100008 bytes here"));
  EXPECT_THAT(shown, HasSubstr(R"({"uri": "cellblock://results/abc/1", "offset": )" +
                               std::to_string(offset) + "}"));
  EXPECT_THAT(outcome.parts, ::testing::ElementsAre(text));
}

TEST(Bounds, WhatIsSaidToBeMissingIsWhatIsMissing) {
  const Outcome outcome = bound(of_tool({text_item(std::string(100'000, 'x'))}));
  const std::string shown = first_text(outcome);
  const std::size_t head = shown.find("\n\n[");
  const std::size_t tail = shown.size() - (shown.find("]\n\n") + 3);
  EXPECT_THAT(shown, HasSubstr("left out " + std::to_string(100'000 - head - tail) + " of 100000"));
}

TEST(Bounds, ATextIsCutBetweenCharacters) {
  for (const std::string character : {"ü", "€", "🚀"}) {
    for (std::size_t shift = 0; shift < 4; ++shift) {
      std::string text(shift, '.');
      while (text.size() < 60'000) text += character;
      const std::string shown = first_text(bound(of_tool({text_item(text)})));
      EXPECT_THAT(shown, Not(HasSubstr("\xEF\xBF\xBD"))) << character << shift;
      EXPECT_LE(shown.size(), narrow.max_bytes);
    }
  }
}

TEST(Bounds, ATextThatIsSpelledInEscapesIsCutBetweenCharactersToo) {
  std::string raw = R"({"content":[{"type":"text","text":")";
  for (int i = 0; i < 8'000; ++i) raw += R"(\ud83d\ude80)";
  raw += R"("}]})";
  const auto bounded = BoundedResult::of(raw, ResultShape::tool_call, LinkForm::text, narrow);
  ASSERT_TRUE(bounded);
  const Json result = Json::parse(bounded->write({}));
  const std::string shown = result["content"][0]["text"];
  EXPECT_THAT(shown, AllOf(StartsWith("🚀🚀"), EndsWith("🚀🚀"), HasSubstr("of 32000 bytes")));
  EXPECT_THAT(shown, Not(HasSubstr("\xEF\xBF\xBD")));
}

TEST(Bounds, LinesStayWholeWhereThereAreAny) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "line " + std::to_string(i) + " of many\n";
  const std::string shown = first_text(bound(of_tool({text_item(text)})));
  const std::string head = shown.substr(0, shown.find("\n\n[cellblock"));
  const std::string tail = shown.substr(shown.find("]\n\n") + 3);
  EXPECT_THAT(head, EndsWith(" of many\n"));
  EXPECT_THAT(tail, AllOf(StartsWith("line "), EndsWith("line 4999 of many\n")));
}

TEST(Bounds, WhatIsNotKeptIsSaidNotToBeKept) {
  const std::string text = of_tool({text_item(std::string(50'000, 'x'))}).dump();
  const auto bounded = BoundedResult::of(text, ResultShape::tool_call, LinkForm::text, narrow);
  ASSERT_TRUE(bounded);
  const Json none = Json::parse(bounded->write({}));
  EXPECT_THAT(none["content"][0]["text"].get<std::string>(), HasSubstr("It is not kept"));
  EXPECT_FALSE(none["_meta"]["cellblock/bounded"].contains("uri"));
  const Json some = Json::parse(
      bounded->write({.uri = "u:1", .bytes = {20'000}, .reader = "reader", .life = "1 h"}));
  EXPECT_THAT(some["content"][0]["text"].get<std::string>(),
              HasSubstr("only its first 20000 bytes are kept, for 1 h"));
}

TEST(Bounds, AShortTextBesideALongOneIsWhole) {
  const Outcome outcome = bound(of_tool({text_item(std::string(50'000, 'x')), text_item("short")}));
  EXPECT_EQ(outcome.result["content"][1], text_item("short"));
}

TEST(Bounds, OfManyTextsTheFirstAreWholeAndTheRestIsOnePart) {
  Json content = Json::array();
  for (int i = 0; i < 15; ++i)
    content.push_back(text_item(std::to_string(i) + std::string(999, '.')));
  const Outcome outcome = bound(of_tool(content));
  const Json& shown = outcome.result["content"];
  EXPECT_EQ(shown[0], content[0]);
  EXPECT_EQ(shown[7], content[7]);
  EXPECT_THAT(shown.back()["text"].get<std::string>(), HasSubstr(" of 15 items"));
  EXPECT_THAT(outcome.parts.back(), HasSubstr("\n14..."));
}

TEST(Bounds, ItemsBeyondTheCountAreLeftOut) {
  Json content = Json::array();
  for (int i = 0; i < 50; ++i) content.push_back(text_item(std::to_string(i)));
  const Outcome outcome = bound(of_tool(content));
  ASSERT_THAT(outcome.result["content"], SizeIs(21));
  EXPECT_THAT(outcome.result["content"][20]["text"].get<std::string>(),
              AllOf(HasSubstr("left out 30 of 50 items"), HasSubstr("cellblock://results/abc/1")));
  EXPECT_THAT(outcome.parts[0], AllOf(StartsWith("20\n21\n"), EndsWith("\n49\n")));
}

// --- media, links --------------------------------------------------------------------------------

TEST(Bounds, AnImageThatIsTooLargeIsReplacedByANoteOrALink) {
  const Json result = of_tool({text_item("a chart:"), image(30'000), image(15'000)});
  const Outcome legacy = bound(result);
  EXPECT_EQ(legacy.result["content"][0], text_item("a chart:"));
  EXPECT_THAT(legacy.result["content"][1]["text"].get<std::string>(),
              HasSubstr("an image here (image/png, 30000 bytes of base64). It is the resource "
                        "cellblock://results/abc/1"));
  EXPECT_EQ(legacy.result["content"][2], image(15'000));
  const Json link =
      bound(result, ResultShape::tool_call, LinkForm::resource_link).result["content"][1];
  EXPECT_EQ(link["type"], "resource_link");
  EXPECT_EQ(link["uri"], "cellblock://results/abc/1");
  EXPECT_EQ(link["mimeType"], "image/png");
  EXPECT_EQ(link["name"], "image");
}

TEST(Bounds, ALinkIsWholeOrNotThere) {
  const Json link = {{"type", "resource_link"}, {"uri", "file:///x"}, {"name", "x"}};
  Json great = link;
  great["description"] = std::string(30'000, 'd');
  const Outcome outcome = bound(of_tool({link, great}));
  EXPECT_EQ(outcome.result["content"][0], link);
  EXPECT_THAT(outcome.result["content"][1]["text"].get<std::string>(),
              HasSubstr("left out 1 of 2 items"));
  EXPECT_EQ(outcome.parts[0], great.dump() + "\n");
}

// --- structuredContent ---------------------------------------------------------------------------

TEST(Bounds, StructuredContentIsNeverCutAndAnErrorWithoutIt) {
  Json result = of_tool({text_item("see structuredContent")});
  result["structuredContent"] = {{"rows", std::string(50'000, 'r')}};
  result["isError"] = false;
  const Outcome outcome = bound(result);
  EXPECT_FALSE(outcome.result.contains("structuredContent"));
  EXPECT_EQ(outcome.result["isError"], true);
  EXPECT_EQ(outcome.result["content"][0], text_item("see structuredContent"));
  EXPECT_THAT(outcome.result["content"][1]["text"].get<std::string>(),
              AllOf(HasSubstr("left out structuredContent"), HasSubstr("it is too long")));
  EXPECT_EQ(Json::parse(outcome.parts[0]), result["structuredContent"]);
}

TEST(Bounds, StructuredContentThatIsNestedTooDeeplyIsLeftOut) {
  Json deep = "x";
  for (int i = 0; i < 9; ++i) deep = Json::array({deep});
  Json result = of_tool(Json::array());
  result["structuredContent"]["deep"] = deep;
  const Outcome outcome = bound(result);
  EXPECT_THAT(outcome.result["content"][0]["text"].get<std::string>(),
              HasSubstr("it is nested too deeply"));
  result["structuredContent"]["deep"] = deep[0][0];
  EXPECT_TRUE(bound(result).untouched);
}

TEST(Bounds, StructuredContentWithinItsBoundStaysBesideATextThatIsCut) {
  Json result = of_tool({text_item(std::string(50'000, 'x'))});
  result["structuredContent"] = {{"count", 3}};
  const Outcome outcome = bound(result);
  EXPECT_EQ(outcome.result["structuredContent"], result["structuredContent"]);
  EXPECT_FALSE(outcome.result.contains("isError"));
}

// --- resources and prompts -----------------------------------------------------------------------

TEST(Bounds, ALongResourceIsCutUnderItsOwnName) {
  const Json result = {
      {"contents",
       {{{"uri", "file:///a"}, {"mimeType", "text/x-c"}, {"text", std::string(50'000, 'x')}},
        {{"uri", "file:///b"}, {"blob", std::string(50'000, 'A')}}}},
      {"ttlMs", 0},
      {"cacheScope", "private"}};
  const Outcome outcome = bound(result, ResultShape::resource_read, LinkForm::resource_link);
  const Json& contents = outcome.result["contents"];
  EXPECT_EQ(contents[0]["uri"], "file:///a");
  EXPECT_EQ(contents[0]["mimeType"], "text/x-c");
  EXPECT_THAT(contents[0]["text"].get<std::string>(), HasSubstr("of 50000 bytes here"));
  EXPECT_EQ(contents[1]["uri"], "file:///b");
  EXPECT_THAT(contents[1]["text"].get<std::string>(), HasSubstr("left out a blob"));
  EXPECT_EQ(outcome.result["ttlMs"], 0);
}

TEST(Bounds, ALongPromptIsCutWithinItsMessages) {
  const Json result = {{"messages",
                        {{{"role", "assistant"}, {"content", text_item(std::string(50'000, 'x'))}},
                         {{"role", "user"}, {"content", image(50'000)}}}}};
  const Outcome outcome = bound(result, ResultShape::prompt);
  EXPECT_EQ(outcome.result["messages"][0]["role"], "assistant");
  EXPECT_EQ(outcome.result["messages"][0]["content"]["type"], "text");
  EXPECT_EQ(outcome.result["messages"][1]["role"], "user");
  EXPECT_EQ(outcome.result["messages"][1]["content"]["type"], "text");
}

// --- the rest of a result ------------------------------------------------------------------------

TEST(Bounds, WhatWasDoneStandsInMetaBesideWhatWasThere) {
  Json result = of_tool({text_item(std::string(50'000, 'x'))});
  result["_meta"] = {{"vendor/trace", 7}, {"cellblock/bounded", "made up by the server"}};
  result["resultType"] = "complete";
  const Outcome outcome = bound(result);
  const Json& meta = outcome.result["_meta"];
  EXPECT_EQ(meta["vendor/trace"], 7);
  EXPECT_EQ(meta["cellblock/bounded"]["uri"], "cellblock://results/abc");
  EXPECT_EQ(meta["cellblock/bounded"]["bytes"], result.dump().size());
  EXPECT_EQ(meta["cellblock/bounded"]["parts"][0],
            Json({{"what", "text"}, {"bytes", 50'000}, {"uri", "cellblock://results/abc/1"}}));
  EXPECT_EQ(outcome.result["resultType"], "complete");
}

TEST(Bounds, MembersThatNobodyReadsAreLeftOutWhenTheyAreLong) {
  Json result = of_tool({text_item("short")});
  result["_meta"] = {{"small", 1}, {"great", std::string(50'000, 'm')}};
  result["extension"] = std::string(50'000, 'e');
  const Outcome outcome = bound(result);
  EXPECT_EQ(outcome.result["_meta"]["small"], 1);
  EXPECT_FALSE(outcome.result["_meta"].contains("great"));
  EXPECT_FALSE(outcome.result.contains("extension"));
  EXPECT_EQ(outcome.result["_meta"]["cellblock/bounded"]["members_left_out"],
            Json({"_meta.great", "extension"}));
}

TEST(Bounds, AMemberIsKnownHoweverItsNameIsSpelled) {
  const std::string raw = R"({"cont\u0065nt":[{"typ\u0065":"text","t\u0065xt":")" +
                          std::string(50'000, 'x') + R"("}]})";
  const auto bounded = BoundedResult::of(raw, ResultShape::tool_call, LinkForm::text, narrow);
  ASSERT_TRUE(bounded);
  EXPECT_LT(bounded->write({}).size(), 11'000);
}

TEST(Bounds, ContentThatIsNoArrayIsLeftOutWhenItIsLong) {
  const Outcome outcome = bound({{"content", std::string(50'000, 'x')}});
  EXPECT_THAT(outcome.result["content"], IsEmpty());
}

TEST(Bounds, AnErrorIsShortened) {
  const Json error = {{"code", -32000}, {"message", std::string(50'000, 'm')}, {"data", "long"}};
  const auto bounded = bounded_error(error.dump(), narrow);
  ASSERT_TRUE(bounded);
  const Json shown = Json::parse(*bounded);
  EXPECT_EQ(shown["code"], -32000);
  EXPECT_LT(shown["message"].get<std::string>().size(), 5'100);
  EXPECT_FALSE(bounded_error(R"({"code":1,"message":"short","data":[]})", narrow));
}

TEST(Bounds, AnErrorThatIsNoObjectIsReplaced) {
  for (const Json& error : {Json(std::string(50'000, 'm')), Json::array({std::string(50'000, 'm')}),
                            Json({{"code", 1}, {"message", {std::string(50'000, 'm')}}})}) {
    const auto bounded = bounded_error(error.dump(), narrow);
    ASSERT_TRUE(bounded);
    EXPECT_LT(bounded->size(), 500U);
    const Json shown = Json::parse(*bounded);
    EXPECT_TRUE(shown["code"].is_number_integer());
    EXPECT_TRUE(shown["message"].is_string());
    EXPECT_EQ(shown["data"]["cellblock/bounded"]["bytes"], error.dump().size());
  }
  EXPECT_FALSE(bounded_error(R"("short")", narrow));
}

TEST(Bounds, TokensAreAboutAFourthOfTheBytes) {
  EXPECT_EQ(token_estimate(0), 0);
  EXPECT_EQ(token_estimate(1), 1);
  EXPECT_EQ(token_estimate(100'000), 25'000);
}

}  // namespace
}  // namespace cellblock
