#include "policy/base/chat_tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace cellblock {
namespace {

TEST(ChatTokens, AreThoseOfTheTemplatesOfModels) {
  for (const char* token : {"<|im_start|>",
                            "<|im_end|>",
                            "<|endoftext|>",
                            "<|eot_id|>",
                            "<|start_header_id|>",
                            "<|SYSTEM|>",
                            "<|reserved_special_token_0|>",
                            "<|/tool_call|>",
                            "<|fim.prefix|>",
                            "<｜User｜>",
                            "<｜tool▁outputs▁begin｜>",
                            "[INST]",
                            "[/INST]",
                            "<<SYS>>",
                            "<</SYS>>",
                            "[TOOL_RESULTS]",
                            "[/AVAILABLE_TOOLS]",
                            "<start_of_turn>",
                            "<end_of_turn>",
                            "<bos>",
                            "<tool_call>",
                            "</tool_result>",
                            "</TOOL_RESPONSE>",
                            "<function_calls>",
                            "</system-reminder>"}) {
    EXPECT_EQ(chat_token_at_end(token), std::string_view(token).size()) << token;
    EXPECT_EQ(chat_token_at_end(std::string("text ") + token), std::string_view(token).size());
  }
}

TEST(ChatTokens, AreNoTagsAndListsOfOrdinaryTexts) {
  for (const char* text : {"<b>", "<s>", "</p>", "a > b", "vector<int>", "[1]", "[inst]", "<||>",
                           "f <| x |>", "<|a b|>", "<system.web>", "x:", "https:", "[x](y)", ">",
                           "]", ":", "", "\xF0\x9F\x98\x80"}) {
    EXPECT_EQ(chat_token_at_end(text), 0U) << text;
  }
}

TEST(ChatTokens, BeginATurnAfterAnEmptyLineOnly) {
  for (const char* text : {"\n\nHuman:", "done.\n\nHuman:", "done.\r\n\r\nAssistant:",
                           "done.\n \t\n  Human:", "Human:", "\nAssistant:"}) {
    EXPECT_GT(chat_token_at_end(text), 0U) << text;
  }
  for (const std::string& text :
       {std::string("\uFEFFHuman:"), std::string("\uFEFF\nHuman:"), std::string("a\n\f\nHuman:"),
        "a\n" + std::string(200, ' ') + "\nHuman:"}) {
    EXPECT_GT(chat_token_at_end(text), 0U) << text;
  }
  for (const char* text : {"a\nHuman:", "The Human:", "\n\nSuperHuman:", "\n\nhuman:"}) {
    EXPECT_EQ(chat_token_at_end(text), 0U) << text;
  }
}

TEST(ChatTokens, AreFoundAnywhereInAText) {
  EXPECT_EQ(first_chat_token("a > b [1] <|im_end|> c [INST]"), "<|im_end|>");
  EXPECT_EQ(first_chat_token("a > b [1]: c"), std::nullopt);
}

TEST(ChatTokens, AreNoTokensAsTheyAreShown) {
  EXPECT_EQ(chat_token_shown("<|im_start|>"), "<token im_start>");
  EXPECT_EQ(chat_token_shown("[/INST]"), "<token /INST>");
  EXPECT_EQ(chat_token_shown("<</SYS>>"), "<token /SYS>");
  EXPECT_EQ(chat_token_shown("Human:"), "<token Human:>");
  for (const char* token : {"<|a|>", "[INST]", "<tool_call>", "<｜User｜>", "Human:", "<<SYS>>"}) {
    EXPECT_EQ(first_chat_token(chat_token_shown(token)), std::nullopt) << token;
  }
}

}  // namespace
}  // namespace cellblock
