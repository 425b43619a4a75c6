#include <gtest/gtest.h>

#include <string>

#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

TEST(TreeReader, ReadsWhatTheLibraryReads) {
  for (const char* text : {R"({"b":[1,-2,3.5,{"x":{}}],"a":"\u00e9\n","n":null,"t":true})", "[]",
                           "{}", "7", "\"text\"", "18446744073709551615", "[[],[[]],{}]"}) {
    EXPECT_EQ(read_tree(text), Json::parse(text)) << text;
    EXPECT_EQ(read_tree(text).dump(), Json::parse(text).dump());
  }
}

TEST(TreeWriter, WritesNumbersAsTheyWereWritten) {
  for (const char* text :
       {"12345678901234567890123", "0.1000000000000000000001", "1e14", "1E+2", "1.10", "-0.0",
        "1e-400", "9007199254740993", R"({"a":[1e14,{"b\n":1.50,"c":"é"}],"d":[],"e":{}})"}) {
    EXPECT_EQ(write_tree(read_tree(text)), text);
  }
}

TEST(TreeWriter, WritesAllElseAsTheLibraryDoes) {
  const char* text = R"({"b":[1,-2,3.5,{"x":{}}],"a":"\u00e9\n","n":null,"t":true})";
  EXPECT_EQ(write_tree(read_tree(text)), Json::parse(text).dump());
}

TEST(TreeReader, DiscardsWhatIsNoJson) {
  for (const char* text : {"", "{", "{]", "[1,]", "nul", "{} {}", R"({"a"})", "\"\xff\""}) {
    EXPECT_TRUE(read_tree(text).is_discarded()) << text;
  }
}

TEST(TreeReader, DiscardsWhatIsTooDeep) {
  const auto nested = [](unsigned depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(read_tree(nested(max_tree_depth)).is_array());
  EXPECT_TRUE(read_tree(nested(max_tree_depth + 1)).is_discarded());
}

// With a search for each key this takes minutes, and every other session waits.
TEST(TreeReader, ReadsAnObjectOfMoreMembersThanCanBeSearchedForEach) {
  constexpr std::size_t count = 300'000;
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += '"' + std::to_string(i) + "\":0,";
  text.back() = '}';
  EXPECT_EQ(read_tree(text).size(), count);
}

}  // namespace
}  // namespace cellblock::gateway
