#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cellblock/bounds.h"

namespace cellblock::client {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

json text_result(const std::string& text) {
  return {{"content", {{{"type", "text"}, {"text", text}}}}, {"isError", false}};
}

TEST(HostBounds, LeaveASmallResultAsTheServerWroteIt) {
  const std::string small = R"({ "content":[{"type":"text","text":"h\u0069"}], "x":1.0 })";
  const auto result = bounded(small, ResultShape::tool_call);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->json, small);
  EXPECT_EQ(result->text, "hi");
  EXPECT_FALSE(result->is_bounded);
  EXPECT_EQ(result->tokens, 1U);
}

TEST(HostBounds, CutATextBetweenCharactersAndSayWhatIsMissing) {
  std::string text;
  while (text.size() < 1'000'000) text += "jürgen\n";
  const auto result = bounded(text_result(text).dump(), ResultShape::tool_call,
                              {.max_bytes = 25'000,
                               .keep_bytes = 2'000'000,
                               .uri = "host://result/1",
                               .reader = "read_on"});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->is_bounded);
  EXPECT_LE(result->text.size(), 25'000U);
  EXPECT_TRUE(json::accept(result->json)) << "no character is cut in two";
  EXPECT_EQ(json::parse(result->json)["content"][0]["type"], "text");
  EXPECT_THAT(result->text, HasSubstr("read_on"));
  EXPECT_THAT(result->text, HasSubstr("host://result/1/1"));
  ASSERT_EQ(result->withheld.size(), 1U);
  EXPECT_EQ(result->withheld[0].text, text);
  EXPECT_EQ(result->withheld[0].bytes, text.size());
}

TEST(HostBounds, KeepNothingWhereNothingIsToBeKept) {
  const auto result =
      bounded(text_result(std::string(100'000, 'x')).dump(), ResultShape::tool_call);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->withheld.size(), 1U);
  EXPECT_EQ(result->withheld[0].text, "");
  EXPECT_EQ(result->withheld[0].bytes, 100'000U);
  EXPECT_THAT(result->text, HasSubstr("not kept"));
}

TEST(HostBounds, HoldResourcesAndPromptsToo) {
  const std::string large(100'000, 'x');
  const json resource = {{"contents", {{{"uri", "file:///a"}, {"text", large}}}}};
  const json prompt = {
      {"messages", {{{"role", "user"}, {"content", {{"type", "text"}, {"text", large}}}}}}};
  for (const auto& [whole, shape] :
       {std::pair{resource, ResultShape::resource_read}, std::pair{prompt, ResultShape::prompt}}) {
    const auto result = bounded(whole.dump(), shape);
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->is_bounded);
    EXPECT_LE(result->text.size(), 40'000U);
    EXPECT_THAT(result->text, StartsWith("xxx"));
  }
}

TEST(HostBounds, RefuseWhatIsNoResultAndBoundsWithoutRoom) {
  for (const char* text : {"", "[]", "{", "3"}) {
    EXPECT_EQ(bounded(text, ResultShape::tool_call).error().code, ErrorCode::invalid_argument);
  }
  EXPECT_FALSE(bounded("{}", ResultShape::tool_call, {.max_bytes = 2'047}));
  EXPECT_FALSE(bounded("{}", ResultShape::tool_call, {.max_item_bytes = 0}));
}

TEST(HostPages, ReadATextToItsEndWithoutCuttingACharacter) {
  const std::string text = "aüb€c𝄞d";
  for (const std::size_t limit : {1U, 2U, 3U, 4U, 5U, 100U}) {
    std::string read;
    while (true) {
      const auto page = page_of(text, read.size(), limit);
      if (page.empty()) break;
      EXPECT_TRUE(json::accept("\"" + std::string(page) + "\"")) << limit;
      read += page;
    }
    EXPECT_EQ(read, text) << limit;
  }
  EXPECT_EQ(page_of(text, 2, 100), "üb€c𝄞d") << "from the middle of a character";
  EXPECT_EQ(page_of(text, 1'000, 5), "");
}

}  // namespace
}  // namespace cellblock::client
