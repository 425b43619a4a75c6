#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "client/cli/common/advice.h"
#include "client/cli/troubleshooting/page_sections.h"
#include "client/cli/troubleshooting/troubleshooting_page.h"
#include "policy/failures/end_verdict.h"
#include "policy/failures/failure.h"

namespace cellblock::cli {
namespace {

bool has_section(std::string_view name) {
  const auto sections = page_sections(troubleshooting_page);
  return std::ranges::find(sections, name, &PageSection::name) != sections.end();
}

TEST(Troubleshooting, HasASectionForEachFailureCode) {
  for (std::uint8_t i = 0; i < failure_code_count; ++i) {
    const auto code = static_cast<FailureCode>(i);
    EXPECT_TRUE(has_section(name_of(code))) << name_of(code);
  }
}

TEST(Troubleshooting, HasASectionForEachVerdict) {
  for (std::uint8_t i = 0; i < verdict_count; ++i) {
    EXPECT_TRUE(has_section(name_of(static_cast<Verdict>(i)))) << name_of(static_cast<Verdict>(i));
  }
}

TEST(Troubleshooting, SaysSomethingInEachSectionWithoutLinks) {
  for (const auto& section : page_sections(troubleshooting_page)) {
    EXPECT_GT(section.text.size(), 60U) << section.name;
    EXPECT_FALSE(section.text.contains("](")) << section.name;
    EXPECT_FALSE(section.group.empty()) << section.name;
    EXPECT_TRUE(first_sentence(section).size() < 160) << section.name;
  }
}

TEST(Troubleshooting, TakesAPageApart) {
  const auto sections = page_sections(
      "# T\n\nintro\n\n## G\n\ngroup's own\n\n### a\nOne `[x]` line\ngoes on. [More](b.md#c).\n- "
      "item\n\n## H\nnot a's\n### b\nB.\n");
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[0].name, "a");
  EXPECT_EQ(sections[0].group, "G");
  EXPECT_EQ(sections[0].text, "One `[x]` line goes on. More.\n- item");
  EXPECT_EQ(first_sentence(sections[0]), "One `[x]` line goes on.");
  EXPECT_EQ(sections[1].group, "H");
}

TEST(Troubleshooting, IsNamedByErrorsWithTheClosestTopic) {
  using client::ErrorCode;
  const auto topic = [](ErrorCode code, std::string failure, std::string data) {
    return topic_of({.code = code,
                     .text = "",
                     .rpc_code = 0,
                     .data = std::move(data),
                     .failure = std::move(failure)});
  };
  EXPECT_EQ(topic(ErrorCode::unreachable, "", ""), "unreachable");
  EXPECT_EQ(topic(ErrorCode::refused, "denied", "{}"), "denied");
  EXPECT_EQ(topic(ErrorCode::server_failed, "server_failed", R"({"verdict":"early_crash"})"),
            "early_crash");
  EXPECT_EQ(topic(ErrorCode::server_failed, "server_failed", R"({"verdict":"reboot it"})"),
            "server_failed");
  EXPECT_EQ(topic(ErrorCode::rpc, "", R"({"verdict":"crash"})"), "");
}

}  // namespace
}  // namespace cellblock::cli
