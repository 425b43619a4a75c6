#include <gmock/gmock.h>

#include <string>

#include "policy/encoding/base64.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/session/session_handoff.h"

namespace cellblock::gateway {
namespace {

constexpr std::string_view told =
    R"({"memory":{"params":{"a":1},"protocolVersion":"2025-11-25","capabilities":{},"initialized":true,)"
    R"("level":"error","subscriptions":["test://x"]},"unread":"b25lCnR3"})";

std::string with(std::string_view key, Json value) {
  Json json = parse_json(told);
  json["memory"][std::string(key)] = std::move(value);
  return text_of(json);
}

TEST(Base64Text, BringsBackWhatItMade) {
  for (const std::string_view bytes : {"", "a", "ab", "abc", "\xff\0\n"}) {
    EXPECT_EQ(base64_bytes(base64_text(bytes)), bytes);
  }
  EXPECT_EQ(base64_text("one\ntw"), "b25lCnR3");
}

TEST(Base64Text, RefusesOtherSpellings) {
  for (const std::string_view text : {"YQ", "YQ=", "YR==", " YQ==", "YQ==YQ==", "Y-==", "===="}) {
    EXPECT_EQ(base64_bytes(text), std::nullopt) << text;
  }
}

TEST(SessionHandoff, IsTheSameInTheNextGateway) {
  auto resumed = SessionHandoff::of(told);
  ASSERT_TRUE(resumed);
  EXPECT_TRUE(resumed->memory().is_due());
  EXPECT_EQ(resumed->take_unread(), "one\ntw");
  EXPECT_EQ(parse_json(*resumed->text("one\ntw")), parse_json(told));
}

TEST(SessionHandoff, OfAHostThatHasToldNothingHasNoMemory) {
  const SessionHandoff fresh;
  EXPECT_EQ(fresh.text(""), R"({"memory":null,"unread":""})");
  auto resumed = SessionHandoff::of(*fresh.text(""));
  ASSERT_TRUE(resumed);
  EXPECT_FALSE(resumed->memory().is_due());
}

TEST(SessionHandoff, PutsTheLinesThatItKeepsBeforeWhatIsUnread) {
  SessionHandoff resumption;
  EXPECT_TRUE(resumption.keep("one"));
  auto resumed = SessionHandoff::of(*resumption.text("tw"));
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->take_unread(), "one\ntw");
}

TEST(SessionHandoff, KeepsNoMoreThanItsBound) {
  SessionHandoff resumption;
  EXPECT_FALSE(resumption.keep(std::string(SessionHandoff::max_unread, 'x')));
  EXPECT_TRUE(resumption.keep(std::string(SessionHandoff::max_unread - 1, 'x')));
  EXPECT_FALSE(resumption.keep(""));
  EXPECT_TRUE(resumption.text(""));
  EXPECT_FALSE(resumption.text("x"));
}

TEST(SessionHandoff, RefusesWhatNoGatewayGave) {
  const std::string too_many = text_of(Json(std::vector<std::string>(1000, "test://x")));
  for (const std::string& text :
       {std::string("null"), std::string("{}"), std::string("[1]"),
        std::string(R"({"memory":null})"), std::string(R"({"memory":null,"unread":"?"})"),
        std::string(R"({"memory":[],"unread":""})"), with("params", "x"), with("capabilities", {}),
        with("level", 7), with("subscriptions", {1}),
        with("subscriptions", parse_json(too_many))}) {
    EXPECT_FALSE(SessionHandoff::of(text).has_value()) << text.substr(0, 100);
  }
}

}  // namespace
}  // namespace cellblock::gateway
