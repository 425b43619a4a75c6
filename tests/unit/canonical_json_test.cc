#include "policy/json/canonical_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "policy/json/json_values.h"

namespace cellblock {
namespace {

TEST(CanonicalText, IsWhatIsMadeOfTheTree) {
  for (const std::string_view json :
       {R"({})", R"([])", R"({"a":1})", R"({"b":2,"a":1})",
        R"( { "b" : [ 1 , "x" , null ] , "a" : true } )",
        R"({"z":{"y":{"x":0,"w":-5},"v":[]},"u":{},"":"empty","t t":"/ and ~"})",
        R"([{"b":1,"a":2},{"b":3,"a":4}])", R"(9007199254740991)", R"("only")"}) {
    const auto text = canonical_text(json);
    ASSERT_TRUE(text.has_value()) << json;
    EXPECT_EQ(*text, canonical_json(nlohmann::ordered_json::parse(json)));
  }
}

TEST(CanonicalText, LeavesToATreeWhatIsSpeltInManyWays) {
  for (const std::string_view json : {R"("\u0041")", R"({"\n":1})", R"(1.0)", R"(1e2)", R"(-0)",
                                      R"(9007199254740993)", "\"\xC3\xA4\"", "\"\x7F\""}) {
    EXPECT_EQ(canonical_text(json), std::nullopt) << json;
  }
}

TEST(CanonicalText, LeavesManyLevelsToATree) {
  EXPECT_TRUE(canonical_text(std::string(64, '[') + std::string(64, ']')));
  EXPECT_EQ(canonical_text(std::string(100, '[') + std::string(100, ']')), std::nullopt);
}

TEST(CanonicalText, IsNoneOfWhatIsNotJson) {
  for (const std::string_view json :
       {"", "{", "[1", R"({"a")", R"({"a":1,})", "[1,]", "\"x", "x", "1 2"}) {
    EXPECT_EQ(canonical_text(json), std::nullopt) << json;
  }
}

TEST(LoneSurrogate, IsFoundWhereverItStands) {
  struct Case {
    std::string_view raw;
    bool is_lone;
  };
  for (const Case& one :
       {Case{"plain", false}, Case{R"(\ud83d\ude00)", false}, Case{R"(\ud83d)", true},
        Case{R"(\ude00)", true}, Case{R"(a\\ud83d)", false}, Case{R"(\ud83d\ud83d)", true},
        Case{R"(\n\t \ud83d\ude00 \udc00)", true}, Case{R"(\\)", false}}) {
    EXPECT_EQ(has_lone_surrogate(one.raw), one.is_lone) << one.raw;
  }
}

}  // namespace
}  // namespace cellblock
