#include <gtest/gtest.h>

#include <string>

#include "supervisor/gateway/checks/clean_answer.h"

namespace cellblock::gateway {
namespace {

bool everything(std::string_view) { return true; }

TEST(CleanAnswer, LeavesAloneWhatIsSound) {
  Findings findings;
  EXPECT_EQ(cleaned_list(ListKind::tools, R"({ "tools" : [ {"name":"a","x":1.50} ] })", everything,
                         findings),
            std::nullopt);
  EXPECT_EQ(cleaned_list(ListKind::tools, R"({"prompts":[{}]})", everything, findings),
            std::nullopt);
  EXPECT_EQ(cleaned_list(ListKind::tools, "[]", everything, findings), std::nullopt);
  EXPECT_EQ(cleaned_introduction(R"({"instructions":"do","serverInfo":{"name":"x"}})", findings),
            std::nullopt);
  EXPECT_FALSE(findings.any());
}

TEST(CleanAnswer, RewritesTheListAndKeepsTheRestOfTheResult) {
  Findings findings;
  const auto cleaned =
      cleaned_list(ListKind::prompts,
                   R"({"prompts":[{"name":"a","description":"\u202e"},{"name":""}],)"
                   R"("nextCursor":"c","_meta":{"k":[1]}})",
                   everything, findings);
  EXPECT_EQ(cleaned, R"({"prompts":[{"name":"a","description":"\\u{202e}"}],)"
                     R"("nextCursor":"c","_meta":{"k":[1]}})");
  EXPECT_EQ(findings.of(Finding::made_visible), 1U);
  EXPECT_EQ(findings.of(Finding::bad_name), 1U);
}

TEST(CleanAnswer, ShowsOnlyWhatMayBeShown) {
  Findings findings;
  const auto cleaned = cleaned_list(
      ListKind::tools, R"({"tools":[{"name":"secret"},{"name":"a"},{"name":"a"}]})",
      [](std::string_view name) { return name != "secret"; }, findings);
  EXPECT_EQ(cleaned, R"({"tools":[{"name":"a"}]})");
}

TEST(CleanAnswer, CleansIntroductionsOfBothEras) {
  Findings findings;
  EXPECT_EQ(cleaned_introduction(
                R"({"protocolVersion":"2025-11-25","serverInfo":{"name":"\u001b[2J"}})", findings),
            R"({"protocolVersion":"2025-11-25","serverInfo":{"name":"\\u{1b}[2J"}})");
  EXPECT_EQ(cleaned_introduction(R"({"instructions":"\u200b"})", findings),
            R"({"instructions":"\\u{200b}"})");
  EXPECT_EQ(findings.of(Finding::made_visible), 2U);
}

}  // namespace
}  // namespace cellblock::gateway
