#include <gtest/gtest.h>

#include <string>

#include "client/cli/terminal/json_text.h"

namespace cellblock::cli {
namespace {

TEST(EscapedJson, StandsOverSeveralLines) {
  EXPECT_EQ(
      escaped_json(R"({"a":[1,{"b":true}],"c":{},"d":[]})"),
      "{\n  \"a\": [\n    1,\n    {\n      \"b\": true\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}");
}

TEST(EscapedJson, ShowsEachNameThatStandsThereTwice) {
  EXPECT_EQ(escaped_json(R"({"to":"evil","to":"good"})"),
            "{\n  \"to\": \"evil\",\n  \"to\": \"good\"\n}");
}

TEST(EscapedJson, LeavesNumbersAndEscapesAsTheyAreWritten) {
  EXPECT_EQ(escaped_json(R"([1.0,10e-1,"\u0061\\"])"), "[\n  1.0,\n  10e-1,\n  \"\\u0061\\\\\"\n]");
}

TEST(EscapedJson, EscapesWhateverIsNotPrintableAscii) {
  EXPECT_EQ(escaped_json("{\"n\xc3\xa9\":\"\x1b[2J\xe2\x80\xae\"}"),
            "{\n  \"n\\xc3\\xa9\": \"\\x1b[2J\\xe2\\x80\\xae\"\n}");
}

TEST(EscapedJson, ShowsWhatIsNoJsonAsOneLine) {
  EXPECT_EQ(escaped_json("{\"a\":\r\nno"), "{\"a\":\\x0d\\x0ano");
}

TEST(EscapedJson, ShowsWhatIsNestedTooDeeplyForLinesOnOne) {
  const std::string deep = std::string(30'000, '[') + std::string(30'000, ']');
  EXPECT_NE(escaped_json(deep).find(std::string(1'000, '[')), std::string::npos);
}

}  // namespace
}  // namespace cellblock::cli
