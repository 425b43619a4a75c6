#include "policy/untrusted/untrusted_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace cellblock {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json made(const std::string& text, UntrustedText how, MarkNote note = MarkNote::content) {
  const auto result = marked_result(text, {.how = how, .note = note});
  EXPECT_TRUE(result) << text;
  const json parsed = result ? json::parse(result->json, nullptr, false) : json();
  EXPECT_FALSE(parsed.is_discarded()) << result->json;
  return parsed;
}

json marked(const std::string& text, MarkNote note = MarkNote::content) {
  return made(text, UntrustedText::mark, note);
}
json stripped(const std::string& text, MarkNote note = MarkNote::content) {
  return made(text, UntrustedText::strip, note);
}

TEST(UntrustedResult, OfAToolSaysWhatWasDoneInATextAndForPrograms) {
  const json result = marked(R"({"content":[{"type":"text","text":"a\u200bb\n<|im_end|>"}]})");
  EXPECT_EQ(result["content"][0]["text"], "a<U+200B>b\n<token im_end>");
  ASSERT_EQ(result["content"].size(), 2U);
  EXPECT_THAT(result["content"][1]["text"].get<std::string>(),
              HasSubstr("It had 1 invisible character, 1 token of a chat template, which may"));
  EXPECT_EQ(result["_meta"]["cellblock/marked"],
            json::parse(R"({"untrusted":"mark","invisible_characters":1,"terminal_sequences":0,)"
                        R"("chat_tokens":1})"));
}

TEST(UntrustedResult, OfAResourceOrPromptSaysItForProgramsAlone) {
  const json result =
      stripped(R"({"contents":[{"uri":"a:b","text":"a\u200bb"}],"_meta":{"x":1}})", MarkNote::meta);
  EXPECT_EQ(result["contents"], json::parse(R"([{"uri":"a:b","text":"ab"}])"));
  EXPECT_EQ(result["_meta"]["x"], 1);
  EXPECT_EQ(result["_meta"]["cellblock/marked"]["untrusted"], "strip");
}

TEST(UntrustedResult, ReplacesWhatTheServerSaysOfThisItself) {
  const auto result = marked_result(
      R"({"content":[],"_meta":{"cellblock/marked":{"chat_tokens":0},"y":2},"x":"<|im_end|>"})",
      {.how = UntrustedText::mark});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->json.find("cellblock/marked"), result->json.rfind("cellblock/marked"));
  const json parsed = json::parse(result->json);
  EXPECT_EQ(parsed["_meta"]["cellblock/marked"]["chat_tokens"], 1);
  EXPECT_EQ(parsed["_meta"]["y"], 2);
  EXPECT_EQ(parsed["content"].size(), 1U);
}

TEST(UntrustedResult, OfAnErrorIsTheErrorAlone) {
  const json error =
      stripped(R"({"code":-1,"message":"a\u200bb","data":{"why":"c\u200bd"}})", MarkNote::none);
  EXPECT_EQ(error, json::parse(R"({"code":-1,"message":"ab","data":{"why":"c<U+200B>d"}})"));
}

TEST(UntrustedResult, HasStructuredContentTreatedToo) {
  const std::string text = R"({"structuredContent":{"a":["x\u200by",{"b":"\u001b[1mz"}],"n":1}})";
  EXPECT_EQ(stripped(text)["structuredContent"], json::parse(R"({"a":["xy",{"b":"z"}],"n":1})"));
  EXPECT_EQ(marked(text)["structuredContent"]["a"][0], "x<U+200B>y");
}

TEST(UntrustedResult, NeverBecomesAnotherWordOfTheProtocol) {
  const json result =
      stripped(R"({"in\u200bputRequests":{"q":{"method":"elicitation\u200b/create"}},)"
               R"("structuredContent\u200b":{"a":"b\u200bc"},"content":[{"type":"te\u200bxt"}]})");
  EXPECT_TRUE(result.contains("in<U+200B>putRequests"));
  EXPECT_EQ(result["in<U+200B>putRequests"]["q"]["method"], "elicitation<U+200B>/create");
  EXPECT_EQ(result["structuredContent<U+200B>"]["a"], "b<U+200B>c");
  EXPECT_EQ(result["content"][0]["type"], "te<U+200B>xt");
}

TEST(UntrustedResult, KeepsTwoNamesTwoThatAreShownAlike) {
  EXPECT_EQ(marked(R"({"structuredContent":{"a\u200b":1,"a<U+200B>":2,"b<name 1>":3}})")
                ["structuredContent"],
            json::parse(R"({"a<U+200B><name 1>":1,"a<U+200B>":2,"b<name 1><name 2>":3})"));
  EXPECT_EQ(marked(R"({"structuredContent":[{"[INST]":1,"b<name 1>":2},{"[INST]":3}]})")
                ["structuredContent"],
            json::parse(R"([{"<token INST>":1,"b<name 1>":2},{"<token INST>":3}])"));
}

TEST(UntrustedResult, HasWhatItWasMadeOfLookedAtAgain) {
  const auto upper = [](std::string_view text) {
    EXPECT_EQ(text, "ab");
    return std::string("[again]");
  };
  const auto result = marked_result(
      R"({"content":[{"type":"text","text":"a\u200bb"},{"type":"text","text":"c"}],"d\u200b":"e\u200b"})",
      {.how = UntrustedText::strip, .note = MarkNote::meta, .look_again = upper});
  ASSERT_TRUE(result);
  const json parsed = json::parse(result->json);
  EXPECT_EQ(parsed["content"][0]["text"], "[again]");
  EXPECT_EQ(parsed["content"][1]["text"], "c");
  EXPECT_EQ(parsed["d<U+200B>"], "e<U+200B>");
}

TEST(UntrustedResult, IsLeftAloneWhereNothingIsFoundOrLookedFor) {
  EXPECT_FALSE(marked_result(R"({"content":[{"type":"text","text":"plain \"text\""}]})",
                             {.how = UntrustedText::mark}));
  EXPECT_FALSE(marked_result(R"({"content":[{"type":"text","text":"\u200b"}]})",
                             {.how = UntrustedText::pass}));
}

TEST(UntrustedResult, IsFoundHoweverItIsSpelled) {
  for (const char* text : {R"({"text":"\u003c|im_end|\u003E"})", R"({"text":"<|im\u005fend|>"})",
                           R"({"text":"\udb40\udc41"})", "{\"text\":\"\u200B\"}"}) {
    EXPECT_TRUE(marked_result(text, {.how = UntrustedText::strip, .note = MarkNote::none})) << text;
  }
}

TEST(UntrustedResult, OfAnyOtherFormIsStillJson) {
  for (const char* text :
       {R"({"content":"\u200b"})", R"({"content":[ ],"_meta":{ },"a":"\u200b"})",
        R"({"content":null,"_meta":1,"a":"\u200b"})", R"(["\u200b"])", R"("\u200b")"}) {
    marked(text);
    stripped(text);
  }
}

}  // namespace
}  // namespace cellblock
