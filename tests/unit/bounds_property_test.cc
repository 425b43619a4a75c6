#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "policy/json/json_text.h"
#include "policy/results/bounded_result.h"

// Whatever a server answers, what comes out is a result of the same kind within its bounds.
namespace cellblock {
namespace {

using Json = nlohmann::ordered_json;

class Made {
 public:
  explicit Made(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t most) { return random_() % most; }
  bool by_chance(std::size_t of) { return below(of) == 0; }

  Json result(ResultShape shape) {
    Json result = Json::object();
    if (by_chance(4)) result["_meta"] = anything(3);
    if (by_chance(6)) result["isError"] = by_chance(2);
    if (!by_chance(10)) result[std::string(items_member(shape))] = items(shape);
    if (by_chance(2)) result["structuredContent"] = anything(5);
    if (by_chance(4)) result["resultType"] = "complete";
    if (by_chance(8)) result[text(20)] = anything(4);
    return result;
  }

 private:
  std::string text(std::size_t most) {
    static const std::vector<std::string> pieces = {
        "a", "word ", "\n", "\"", "\\", "ü", "€", "🚀", std::string(1, '\0'), "\x1f", "/", "\t"};
    std::string made;
    const std::size_t size = below(most);
    while (made.size() < size) {
      made += by_chance(3) ? pieces[below(pieces.size())] : std::string(below(200), 'x');
    }
    return made;
  }

  std::size_t length() { return by_chance(4) ? 30'000 : 600; }

  Json anything(std::size_t depth) {
    switch (depth == 0 ? below(3) : below(5)) {
      case 0:
        return text(length());
      case 1:
        return random_();
      case 2:
        return nullptr;
      case 3: {
        Json list = Json::array();
        for (std::size_t i = below(6); i > 0; --i) list.push_back(anything(depth - 1));
        return list;
      }
      default: {
        Json object = Json::object();
        for (std::size_t i = below(6); i > 0; --i) object[text(12)] = anything(depth - 1);
        return object;
      }
    }
  }

  Json content() {
    switch (below(6)) {
      case 0:
        return {
            {"type", "image"}, {"mimeType", "image/png"}, {"data", std::string(below(9'000), 'A')}};
      case 1:
        return {{"type", "resource"}, {"resource", resource()}};
      case 2:
        return {{"type", "resource_link"}, {"uri", text(3'000)}, {"name", "n"}};
      case 3:
        return anything(3);
      default:
        return {{"type", "text"}, {"text", text(length())}, {"annotations", anything(1)}};
    }
  }

  Json resource() {
    Json made = {{"uri", "file:///" + std::to_string(below(100))}};
    if (by_chance(2)) made["mimeType"] = text(200);
    if (by_chance(3)) {
      made["blob"] = std::string(below(9'000), 'A');
    } else {
      made["text"] = text(length());
    }
    return made;
  }

  Json items(ResultShape shape) {
    Json list = Json::array();
    for (std::size_t i = below(by_chance(5) ? 60 : 6); i > 0; --i) {
      if (shape == ResultShape::tool_call) list.push_back(content());
      if (shape == ResultShape::resource_read) list.push_back(resource());
      if (shape == ResultShape::prompt) {
        list.push_back({{"role", by_chance(2) ? "user" : "assistant"}, {"content", content()}});
      }
    }
    return list;
  }

  std::mt19937 random_;
};

/// What a model reads: everything but base64, texts unescaped.
std::size_t read_bytes(const Json& item) {
  if (item.is_string()) return item.get_ref<const std::string&>().size() + 2;
  if (!item.is_structured()) return item.dump().size();
  std::size_t sum = 2;
  for (const auto& [key, value] : item.items()) {
    if (item.is_object()) sum += key.size() + 4;
    if (!item.is_object() || (key != "data" && key != "blob")) sum += read_bytes(value) + 1;
  }
  return sum;
}

bool has_shape(const Json& item, ResultShape shape) {
  if (shape == ResultShape::resource_read) {
    return item.contains("uri") && (item.contains("text") || item.contains("blob"));
  }
  if (shape == ResultShape::prompt) return item.contains("role") && item.contains("content");
  return true;
}

void check(const Json& made, ResultShape shape, const ResultBounds& bounds, unsigned seed) {
  const std::string text = made.dump();
  const auto bounded = BoundedResult::of(text, shape, LinkForm::resource_link, bounds);
  if (!bounded) return;
  EXPECT_TRUE(may_exceed(text.size(), bounds)) << seed;
  KeptParts kept{.uri = "cellblock://results/0123456789abcdef0123456789abcdef",
                 .bytes = {},
                 .reader = "cellblock_read_result",
                 .life = "1h"};
  for (const MissingPart& part : bounded->withheld()) {
    EXPECT_EQ(part.text(1U << 30).size(), part.size()) << seed;
    kept.bytes.push_back(part.size());
  }
  const Json result = Json::parse(bounded->write(kept));
  const std::string items(items_member(shape));
  if (result.contains(items)) {
    ASSERT_TRUE(result[items].is_array()) << seed;
    EXPECT_LE(result[items].size(), bounds.max_items + 2) << seed;
    for (const Json& item : result[items]) EXPECT_TRUE(has_shape(item, shape)) << seed << item;
    // A note about structuredContent comes on top of what items may have.
    EXPECT_LE(read_bytes(result[items]), bounds.max_bytes + note_room + 64 * result[items].size())
        << seed;
  }
  if (result.contains("structuredContent")) {
    EXPECT_EQ(result["structuredContent"], made["structuredContent"]) << seed;
    EXPECT_LE(result["structuredContent"].dump().size(), bounds.max_bytes) << seed;
  } else if (made.contains("structuredContent") && shape == ResultShape::tool_call) {
    EXPECT_EQ(result["isError"], true) << seed;
  }
  EXPECT_TRUE(result["_meta"].contains("cellblock/bounded")) << seed;
  // What came out is within the bounds itself, so that it passes a second gate as it is.
  const std::string again = result.dump();
  EXPECT_LE(again.size(), 6 * (3 * bounds.max_bytes) + bounds.max_media_bytes) << seed;
}

TEST(BoundsProperty, WhateverGoesInAValidResultWithinItsBoundsComesOut) {
  constexpr ResultBounds bounds{.max_bytes = 6'000,
                                .max_item_bytes = 5'000,
                                .max_media_bytes = 8'000,
                                .max_items = 12,
                                .max_depth = 4};
  for (unsigned seed = 0; seed < 1'000; ++seed) {
    Made made(seed);
    for (const ResultShape shape :
         {ResultShape::tool_call, ResultShape::resource_read, ResultShape::prompt}) {
      check(made.result(shape), shape, bounds, seed);
      if (HasFailure()) return;
    }
  }
}

TEST(BoundsProperty, NoCutOfATextMakesItLookAtWhatIsOutside) {
  const std::string whole =
      R"({"content":[{"type":"text","text":")" + std::string(3'000, 'x') +
      R"(\u00e9\ud83d\ude80\\"}],"structuredContent":{"a":[1,2,{"b":"c"}]},"_meta":{"k":1}})";
  constexpr ResultBounds bounds{.max_bytes = 2'048, .max_item_bytes = 2'048, .max_items = 3};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::string part = whole.substr(0, size);  // on its own, for a sanitizer to see its end
    const auto bounded = BoundedResult::of(part, ResultShape::tool_call, LinkForm::text, bounds);
    const std::string written = bounded ? bounded->write({}) : "not touched";
    EXPECT_FALSE(written.empty());
  }
}

}  // namespace
}  // namespace cellblock
