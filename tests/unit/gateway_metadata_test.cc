#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/gateway/checks/metadata.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

Json tool(const std::string& name) {
  return {{"name", name}, {"inputSchema", {{"type", "object"}}}};
}

Json nested(unsigned levels) {
  Json value = 1;
  for (unsigned i = 0; i < levels; ++i) value = Json::array({std::move(value)});
  return value;
}

struct Cleaned {
  Json items;
  Findings findings;
};

Cleaned clean(Json items, ListKind kind = ListKind::tools) {
  const Findings findings = clean_items(items, kind);
  return {std::move(items), findings};
}

TEST(VisibleText, KeepsWhatPeopleWrite) {
  for (const char* text :
       {"plain", "two\nlines\twith a tab", "a line\r\nof Windows", "Grüße, 日本語",
        "\u26a0\ufe0f careful", "\U0001F468\u200d\U0001F469\u200d\U0001F467", "1\ufe0f\u20e3",
        "\u2764\ufe0f\u200d\U0001F525"}) {
    EXPECT_EQ(made_visible(text), std::nullopt) << text;
  }
}

TEST(VisibleText, ShowsWhatHidesOrMoves) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"\x1b[2J", "\\u{1b}[2J"},
      {"a\u202eb", "a\\u{202e}b"},
      {"a\u200bb", "a\\u{200b}b"},
      {"a\u2066b\u2069", "a\\u{2066}b\\u{2069}"},
      {"\ufeffa", "\\u{feff}a"},
      {"a\u009bb", "a\\u{9b}b"},
      {"\U000E0041\U000E0042", "\\u{e0041}\\u{e0042}"},
      {"a\ufe0f", "a\\u{fe0f}"},
      {"a\u200d", "a\\u{200d}"},
      {"\u26a0\ufe0f\ufe0f", "\u26a0\ufe0f\\u{fe0f}"},
      {"\U0001F600\U000E0101", "\U0001F600\\u{e0101}"},
      {"a\rb", "a\\u{d}b"},
      {std::string("a\0b", 3), "a\\u{0}b"},
      {"a\x80", "a\\x80"},
      {"\x7f", "\\u{7f}"},
  };
  for (const auto& [hidden, visible] : table) EXPECT_EQ(made_visible(hidden), visible);
}

TEST(VisibleText, IsTheSameWhenItIsMadeVisibleAgain) {
  const auto once = made_visible("a\u202eb\x1b\u26a0\ufe0f\ufe0f");
  ASSERT_TRUE(once);
  EXPECT_EQ(made_visible(*once), std::nullopt);
}

TEST(VisibleText, IsCutBetweenCharactersAndNotCutAgain) {
  std::string text;
  while (text.size() < 200) text += "ä";
  const auto cut = cut_to(text, 101);
  ASSERT_TRUE(cut);
  EXPECT_LE(cut->size(), 101U);
  EXPECT_NE(cut->find("more bytes]"), std::string::npos);
  EXPECT_EQ(made_visible(*cut), std::nullopt);
  EXPECT_EQ(cut_to(*cut, 101), std::nullopt);
  EXPECT_EQ(cut_to(text, text.size()), std::nullopt);
}

TEST(Metadata, StaysAsItIsWhenNothingIsWrongWithIt) {
  const Json items = Json::array(
      {{{"name", "read-file.v2/x"},
        {"title", "Read ⚠️"},
        {"description", "two\nlines"},
        {"icons", {{{"src", "data:image/png;base64,AAAA"}}}},
        {"inputSchema",
         {{"type", "object"},
          {"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"properties", {{"a", {{"$ref", "#/$defs/a"}}}, {"$ref", {{"type", "string"}}}}},
          {"$defs", {{"a", {{"type", "number"}, {"default", 1.0}}}}}}},
        {"_meta", {{"ui", {{"resourceUri", "ui://x"}}}}}},
       tool("other")});
  const Cleaned cleaned = clean(items);
  EXPECT_EQ(cleaned.items.dump(), items.dump());
  EXPECT_FALSE(cleaned.findings.any());
}

TEST(Metadata, LeavesOutWhatHasNoSoundName) {
  const std::vector<Json> bad{
      tool(""),
      tool("a\u200bb"),
      tool("a\nb"),
      tool(std::string(257, 'a')),
      tool("a\u202eb"),
      tool("a\U000E0041"),
      Json("text"),
      Json(nullptr),
      Json{{"title", "x"}},
      Json{{"name", 7}},
      Json::array(),
      tool("a\ufe0f"),
  };
  for (const Json& item : bad) {
    const Cleaned cleaned = clean(Json::array({item, tool("good")}));
    EXPECT_EQ(cleaned.items, Json::array({tool("good")})) << item.dump();
    EXPECT_EQ(cleaned.findings.of(Finding::bad_name), 1U) << item.dump();
  }
  EXPECT_EQ(clean(Json::array({tool(std::string(256, 'a'))})).items.size(), 1U);
}

TEST(Metadata, KeepsTheFirstOfAName) {
  Json second = tool("a");
  second["description"] = "the impostor";
  const Cleaned cleaned = clean(Json::array({tool("a"), second, tool("A")}));
  EXPECT_EQ(cleaned.items, Json::array({tool("a"), tool("A")}));
  EXPECT_EQ(cleaned.findings.of(Finding::duplicate), 1U);
}

TEST(Metadata, TellsResourcesApartByUriAndTemplatesByTemplate) {
  const Json resources = Json::array({{{"uri", "a://1"}, {"name", "n"}},
                                      {{"uri", "a://2"}, {"name", "n"}},
                                      {{"uri", "a://1"}, {"name", "m"}},
                                      {{"uri", "a://3"}, {"name", "n\u200b"}}});
  const Cleaned cleaned = clean(resources, ListKind::resources);
  EXPECT_EQ(cleaned.items.size(), 2U);
  EXPECT_EQ(cleaned.findings.of(Finding::duplicate), 1U);
  EXPECT_EQ(cleaned.findings.of(Finding::bad_name), 1U);
  const Json templates = Json::array({{{"uriTemplate", "a://{x}"}, {"name", "n"}}});
  EXPECT_EQ(clean(templates, ListKind::resource_templates).items, templates);
}

TEST(Metadata, LeavesOutAToolWhoseSchemaRefersOutside) {
  for (const char* target :
       {"https://evil.example/schema.json", "file:///etc/passwd", "other.json", "//host/x", ""}) {
    for (const char* key : {"$ref", "$dynamicRef", "$recursiveRef"}) {
      Json item = tool("a");
      item["inputSchema"]["properties"]["x"]["anyOf"] = Json::array({{{key, target}}});
      const Cleaned cleaned = clean(Json::array({item, tool("b")}));
      EXPECT_EQ(cleaned.items, Json::array({tool("b")})) << key << " " << target;
      EXPECT_EQ(cleaned.findings.of(Finding::external_ref), 1U);
    }
  }
  Json item = tool("a");
  item["outputSchema"] = {{"$ref", "http://x/"}};
  EXPECT_TRUE(clean(Json::array({item})).items.empty());
}

TEST(Metadata, LeavesOutWhatIsTooDeepOrTooLarge) {
  Json deep = tool("deep");
  deep["inputSchema"]["x"] = nested(max_item_depth);
  Json allowed = tool("allowed");
  allowed["x"] = nested(max_item_depth - 1);
  Json large = tool("large");
  large["_meta"] = {{"x", std::string(max_item_bytes, 'a')}};
  const Cleaned cleaned = clean(Json::array({deep, allowed, large}));
  EXPECT_EQ(cleaned.items, Json::array({allowed}));
  EXPECT_EQ(cleaned.findings.of(Finding::too_large), 2U);
}

TEST(Metadata, LeavesOutItemsWithHiddenCharactersInKeys) {
  Json item = tool("a");
  item["inputSchema"]["properties"]["pa\u200bth"] = {{"type", "string"}};
  const Cleaned cleaned = clean(Json::array({item}));
  EXPECT_TRUE(cleaned.items.empty());
  EXPECT_EQ(cleaned.findings.of(Finding::bad_key), 1U);
}

TEST(Metadata, MakesTextsVisibleAtEveryDepth) {
  Json item = tool("a");
  item["description"] = "x\u202e";
  item["annotations"]["title"] = "\x1b]0;";
  item["inputSchema"]["properties"]["p"]["description"] = "\U000E0041";
  item["inputSchema"]["properties"]["p"]["enum"] = Json::array({"\u200b"});
  const Cleaned cleaned = clean(Json::array({item}));
  EXPECT_EQ(cleaned.findings.of(Finding::made_visible), 4U);
  EXPECT_EQ(cleaned.items[0]["description"], "x\\u{202e}");
  EXPECT_EQ(cleaned.items[0]["annotations"]["title"], "\\u{1b}]0;");
  EXPECT_EQ(cleaned.items[0]["inputSchema"]["properties"]["p"]["enum"][0], "\\u{200b}");
}

TEST(Metadata, CutsLongDescriptions) {
  Json item = tool("a");
  item["description"] = std::string(max_description + 1, 'a');
  const Cleaned cleaned = clean(Json::array({item}));
  EXPECT_EQ(cleaned.findings.of(Finding::cut), 1U);
  EXPECT_LE(cleaned.items[0]["description"].get<std::string>().size(), max_description);
}

TEST(Metadata, KeepsNoMoreItemsThanTheBound) {
  Json items = Json::array();
  for (std::size_t i = 0; i < max_items + 3; ++i) items.push_back(tool("t" + std::to_string(i)));
  const Cleaned cleaned = clean(items);
  EXPECT_EQ(cleaned.items.size(), max_items);
  EXPECT_EQ(cleaned.findings.of(Finding::too_many), 3U);
}

TEST(Metadata, MakesAnEmptyListOfWhatIsNone) {
  EXPECT_EQ(clean(Json("x")).items, Json::array());
  EXPECT_EQ(clean(Json()).items, Json::array());
}

TEST(Metadata, IsNotCleanedTwice) {
  Json item = tool("a");
  item["description"] = std::string(max_description, 'a') + "\u202e";
  Json items = Json::array({item});
  EXPECT_TRUE(clean_items(items, ListKind::tools).any());
  EXPECT_FALSE(clean_items(items, ListKind::tools).any());
}

TEST(Metadata, BoundsInstructions) {
  Findings findings;
  EXPECT_EQ(cleaned_instructions("do this\nthen that", findings), std::nullopt);
  EXPECT_EQ(cleaned_instructions("x\u2066", findings), "x\\u{2066}");
  EXPECT_TRUE(cleaned_instructions(std::string(max_instructions + 1, 'x'), findings));
  EXPECT_EQ(findings.of(Finding::cut), 1U);
  EXPECT_EQ(findings.of(Finding::made_visible), 1U);
}

}  // namespace
}  // namespace cellblock::gateway
