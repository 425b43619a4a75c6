#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "supervisor/gateway/checks/kept_result_answers.h"
#include "supervisor/gateway/checks/kept_results.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class FakeAlarm final : public Alarm {
 public:
  FakeAlarm(Rings rings, Rings& slot) { slot = std::move(rings); }
  void set(std::optional<Milliseconds> /*from_now*/) override {}
};

struct Texts {
  explicit Texts(std::vector<std::string> values) {
    for (std::string& value : values) raw.push_back(Json(value).dump());
    for (const std::string& text : raw) {
      parts.push_back({.kind = PartKind::text, .mime = "text/plain", .pieces = {{text, true}}});
    }
  }
  std::vector<std::string> raw;
  std::vector<MissingPart> parts;
};

class Kept : public ::testing::Test {
 protected:
  static constexpr ResultKeeping rules{
      .most = 3, .bytes = 10'000, .bytes_per_user = 15'000, .age = minutes(60)};

  KeptTotal total_{rules, [this](std::span<std::byte> bytes) {
                     for (std::byte& byte : bytes) byte = std::byte{next_};
                     ++next_;
                   }};
  KeptResults kept_{total_, [this](Alarm::Rings rings) {
                      return std::make_unique<FakeAlarm>(std::move(rings), rings_);
                    }};
  std::uint8_t next_ = 0;
  Alarm::Rings rings_;
  Time now_{minutes(1'000)};
  MessageScanner scanner_;

  std::string keep(std::vector<std::string> texts, std::size_t page = 1'000) {
    const Texts all(std::move(texts));
    return kept_.keep(all.parts, page, now_).uri;
  }

  Json ask(Json request) {
    request["jsonrpc"] = "2.0";
    request["id"] = 1;
    std::string line = request.dump();
    const std::size_t size = line.size();
    line.resize(size + MessageScanner::padding);
    const auto text = std::string_view(line).substr(0, size);
    const auto message = scanner_.scan(text);
    EXPECT_TRUE(message) << text;
    EXPECT_TRUE(is_about_kept(text, *message)) << text;
    return Json::parse(answer_about_kept(text, *message, kept_, 8U << 20, now_).reply);
  }

  Json call(Json arguments) {
    return ask({{"method", "tools/call"},
                {"params", {{"name", reading_tool_name}, {"arguments", std::move(arguments)}}}});
  }
  Json read(std::string uri) {
    return ask({{"method", "resources/read"}, {"params", {{"uri", std::move(uri)}}}});
  }
};

std::string text_of(const Json& answer, std::size_t item = 0) {
  return answer["result"]["content"][item]["text"];
}

TEST_F(Kept, WhatIsKeptIsFoundUnderItsUri) {
  const std::string uri = keep({"first", "second"});
  EXPECT_THAT(uri, StartsWith("cellblock://results/"));
  EXPECT_EQ(uri.size(), kept_results_prefix.size() + 32);
  EXPECT_EQ(kept_.find(uri + "/2", now_)->part->text, "second");
  EXPECT_EQ(kept_.find(uri + "/2?offset=3", now_)->offset, 3);
  EXPECT_EQ(kept_.find(uri, now_)->part, nullptr);
  for (const std::string wrong : {"/0", "/3", "/x", "/1/", "/1?offset=x", "/-1", "x"}) {
    EXPECT_FALSE(kept_.find(uri + wrong, now_)) << wrong;
  }
}

TEST_F(Kept, AnotherSessionDoesNotFindIt) {
  const std::string uri = keep({"first"});
  KeptResults other(total_, [this](Alarm::Rings rings) {
    return std::make_unique<FakeAlarm>(std::move(rings), rings_);
  });
  EXPECT_FALSE(other.find(uri + "/1", now_));
}

TEST_F(Kept, TheOldestMakesPlaceForWhatIsOverTheCount) {
  const std::string first = keep({"1"});
  for (int i = 0; i < 3; ++i) keep({"x"});
  EXPECT_EQ(kept_.size(), 3);
  EXPECT_FALSE(kept_.find(first + "/1", now_));
}

TEST_F(Kept, TheOldestMakesPlaceForWhatIsOverTheBytes) {
  const std::string first = keep({std::string(6'000, 'a')});
  const std::string second = keep({std::string(6'000, 'b')});
  EXPECT_FALSE(kept_.find(first + "/1", now_));
  EXPECT_TRUE(kept_.find(second + "/1", now_));
  EXPECT_EQ(kept_.bytes(), 6'000);
}

TEST_F(Kept, OfWhatIsTooLongTheBeginningIsKept) {
  const Texts all({std::string(9'000, 'a'), std::string(9'000, 'b')});
  const KeptParts parts = kept_.keep(all.parts, 1'000, now_);
  EXPECT_THAT(parts.bytes, ElementsAre(9'000, 1'000));
  EXPECT_EQ(kept_.bytes(), 10'000);
}

TEST_F(Kept, TheOldestOfAllSessionsMakesPlaceForWhatIsOverTheUsersBytes) {
  KeptResults other(total_, [this](Alarm::Rings rings) {
    return std::make_unique<FakeAlarm>(std::move(rings), rings_);
  });
  const Texts long_text({std::string(9'000, 'a')});
  const std::string first = other.keep(long_text.parts, 1'000, now_).uri;
  now_ += minutes(1);
  const std::string second = keep({std::string(9'000, 'b')});
  EXPECT_FALSE(other.find(first + "/1", now_));
  EXPECT_TRUE(kept_.find(second + "/1", now_));
  EXPECT_EQ(total_.bytes(), 9'000);
}

TEST_F(Kept, WhatIsTooOldIsGoneWhetherSomebodyAsksOrNot) {
  const std::string uri = keep({"old"});
  now_ += minutes(60);
  EXPECT_FALSE(kept_.find(uri + "/1", now_));
  keep({"young"});
  now_ += minutes(60);
  rings_(now_);
  EXPECT_EQ(kept_.bytes(), 0);
}

TEST_F(Kept, NothingIsKeptWhereNothingIsToBe) {
  KeptTotal none({.most = 0}, [](std::span<std::byte>) {});
  KeptResults kept(none, [](const Alarm::Rings&) { return std::unique_ptr<Alarm>(); });
  const Texts all({"text"});
  EXPECT_EQ(kept.keep(all.parts, 1'000, now_).uri, "");
}

// --- the tool ------------------------------------------------------------------------------------

TEST_F(Kept, TheToolReadsPageAfterPage) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "row " + std::to_string(i) + "\n";
  const std::string uri = keep({text}) + "/1";
  std::string together;
  Json arguments = {{"uri", uri}};
  for (int i = 0; i < 100; ++i) {
    const Json answer = call(arguments);
    together += text_of(answer);
    const Json& about = answer["result"]["_meta"]["cellblock/page"];
    EXPECT_LE(text_of(answer).size(), 1'000);
    if (!about.contains("next")) break;
    EXPECT_THAT(text_of(answer, 1), HasSubstr("Go on with \"offset\": " + about["next"].dump()));
    arguments["offset"] = about["next"];
  }
  EXPECT_EQ(together, text);
}

TEST_F(Kept, TheToolFindsLines) {
  const std::string uri = keep({"alpha\nbeta\ngamma\n"}) + "/1";
  const Json answer = call({{"uri", uri}, {"grep", "^(b|g)"}});
  EXPECT_EQ(text_of(answer), "6: beta\n11: gamma\n");
  EXPECT_THAT(text_of(answer, 1), HasSubstr("that is the end"));
}

TEST_F(Kept, TheToolSaysOfAWholeResultWhatItConsistsOf) {
  const std::string uri = keep({"alpha", "beta"});
  EXPECT_EQ(text_of(call({{"uri", uri}})), uri + "/1: 5 bytes of text (text/plain)\n" + uri +
                                               "/2: 4 bytes of text (text/plain)\n");
}

TEST_F(Kept, TheToolAsksForWhatItNeeds) {
  const std::string uri = keep({"alpha"}) + "/1";
  for (const Json& arguments :
       {Json::object(), Json{{"uri", 7}}, Json{{"uri", uri}, {"offset", -1}},
        Json{{"uri", uri}, {"limit", 0}}, Json{{"uri", uri}, {"grep", 1}},
        Json{{"uri", uri}, {"grep", "("}}, Json{{"uri", "cellblock://results/none/1"}},
        Json{{"uri", "file:///etc/passwd"}}}) {
    const Json answer = call(arguments);
    EXPECT_EQ(answer["result"]["isError"], true) << arguments;
    EXPECT_EQ(answer["result"]["_meta"]["cellblock/error"]["code"], "invalid_arguments");
  }
}

TEST_F(Kept, AModernHostGetsAModernResult) {
  const std::string uri = keep({"alpha"}) + "/1";
  const Json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  const Json tool = ask(
      {{"method", "tools/call"},
       {"params", {{"name", reading_tool_name}, {"arguments", {{"uri", uri}}}, {"_meta", meta}}}});
  EXPECT_EQ(tool["result"]["resultType"], "complete");
  const Json resource =
      ask({{"method", "resources/read"}, {"params", {{"uri", uri}, {"_meta", meta}}}});
  EXPECT_EQ(resource["result"]["resultType"], "complete");
  EXPECT_EQ(resource["result"]["cacheScope"], "private");
  const Json none =
      ask({{"method", "resources/read"},
           {"params", {{"uri", uri.substr(0, uri.size() - 1) + "7"}, {"_meta", meta}}}});
  EXPECT_EQ(none["error"]["code"], -32602);
}

// --- the resource --------------------------------------------------------------------------------

TEST_F(Kept, AResourceIsReadPageAfterPage) {
  const std::string text(3'500, 'x');
  std::string uri = keep({text}) + "/1";
  std::string together;
  for (int i = 0; i < 10; ++i) {
    const Json contents = read(uri)["result"]["contents"];
    EXPECT_EQ(contents[0]["uri"], uri);
    together += contents[0]["text"].get<std::string>();
    if (contents.size() == 1) break;
    uri = contents[1]["uri"];
    EXPECT_THAT(contents[1]["text"].get<std::string>(), HasSubstr(uri));
  }
  EXPECT_EQ(together, text);
}

TEST_F(Kept, AnImageIsReadAsTheBlobThatItWas) {
  const std::string base64 = Json(std::string(4'000, 'A')).dump();
  const std::vector<MissingPart> parts = {
      {.kind = PartKind::base64, .mime = "image/png", .pieces = {{base64, true}}}};
  const std::string uri = kept_.keep(parts, 1'000, now_).uri + "/1";
  const Json contents = read(uri)["result"]["contents"];
  ASSERT_THAT(contents, SizeIs(1));
  EXPECT_EQ(contents[0]["mimeType"], "image/png");
  EXPECT_EQ(contents[0]["blob"], std::string(4'000, 'A'));
  EXPECT_EQ(call({{"uri", uri}})["result"]["isError"], true);
}

TEST_F(Kept, WhatIsNotKeptIsNoResource) {
  EXPECT_EQ(read("cellblock://results/0123456789abcdef0123456789abcdef/1")["error"]["code"],
            -32002);
}

// --- the list ------------------------------------------------------------------------------------

TEST(ReadingTool, IsATool) {
  const Json tool = Json::parse(reading_tool());
  EXPECT_EQ(tool["name"], reading_tool_name);
  EXPECT_EQ(tool["annotations"]["readOnlyHint"], true);
  EXPECT_EQ(tool["inputSchema"]["required"], Json({"uri"}));
}

TEST(ReadingTool, IsListedAtOnceToAHostThatDoesNotHearOfChanges) {
  using enum ReadingToolOffer::Host;
  ReadingToolOffer offer;
  EXPECT_EQ(offer.listed_for(hears_nothing), ReadingTool::listed);
  offer.result_was_cut();
  EXPECT_FALSE(offer.take_change());
}

TEST(ReadingTool, IsListedAfterTheFirstCutResultToAHostThatHearsOfIt) {
  using enum ReadingToolOffer::Host;
  ReadingToolOffer offer;
  EXPECT_EQ(offer.listed_for(hears_changes), ReadingTool::not_listed);
  EXPECT_FALSE(offer.take_change());
  offer.result_was_cut();
  EXPECT_TRUE(offer.take_change());
  EXPECT_FALSE(offer.take_change());
  EXPECT_EQ(offer.listed_for(hears_changes), ReadingTool::listed);
}

TEST(ReadingTool, StaysListedWhereItWasOnce) {
  using enum ReadingToolOffer::Host;
  ReadingToolOffer offer;
  EXPECT_EQ(offer.listed_for(hears_nothing), ReadingTool::listed);
  EXPECT_EQ(offer.listed_for(hears_changes), ReadingTool::listed);
}

TEST(ReadingTool, IsOfNoServersListBeforeItIsListed) {
  constexpr const char* raw = R"({"tools":[{"name":"a"},{"name":"cellblock_read_result"}]})";
  EXPECT_EQ(with_reading_tool(raw, ReadingTool::not_listed), R"({"tools":[{"name":"a"}]})");
}

TEST(ReadingTool, StandsAtTheEndOfAListAndNobodyElseHasItsName) {
  const Json mine = Json::parse(reading_tool());
  const auto listed = [](const std::string& raw) { return Json::parse(with_reading_tool(raw)); };
  EXPECT_EQ(listed(R"({"tools":[]})")["tools"], Json::array({mine}));
  EXPECT_EQ(listed(R"({"a":1,"tools":[{"name":"x"}],"ttlMs":0})"),
            Json({{"a", 1}, {"tools", Json::array({Json({{"name", "x"}}), mine})}, {"ttlMs", 0}}));
  EXPECT_EQ(listed(R"({"tools":[{"name":"cellblock_re\u0061d_result","description":"mine!"}]})"),
            Json({{"tools", Json::array({mine})}}));
  EXPECT_EQ(with_reading_tool("{}"), "{}");
  EXPECT_EQ(with_reading_tool(R"({"tools":7})"), R"({"tools":7})");
}

}  // namespace
}  // namespace cellblock::gateway
