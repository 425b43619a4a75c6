#include "policy/results/page.h"

#include <gmock/gmock.h>

#include <string>

namespace cellblock {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Optional;

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST(Page, PagesPutTogetherAreTheText) {
  const std::string text = lines(5'000) + std::string(3'000, 'x') + "🚀€ü" + lines(100);
  std::string together;
  std::optional<std::size_t> at = 0;
  while (at) {
    const Page page = page_of(text, *at, 1'000);
    EXPECT_EQ(page.begin, *at);
    EXPECT_LE(page.text.size(), 1'000);
    together += page.text;
    at = page.next;
  }
  EXPECT_EQ(together, text);
}

TEST(Page, APageNeverSplitsACharacter) {
  std::string text;
  while (text.size() < 3'000) text += "🚀";
  for (std::size_t limit = 4; limit < 12; ++limit) {
    const Page page = page_of(text, 0, limit);
    EXPECT_EQ(page.text.size() % 4, 0) << limit;
    EXPECT_GT(page.text.size(), 0) << limit;
  }
  EXPECT_EQ(page_of(text, 2, 8).begin, 4);
}

TEST(Page, APageEndsWithALineWhereThereIsOne) {
  EXPECT_THAT(page_of(lines(100), 0, 50).text, EndsWith("\n"));
}

TEST(Page, PastTheEndThereIsNothing) {
  const Page page = page_of("short", 100, 10);
  EXPECT_EQ(page.text, "");
  EXPECT_FALSE(page.next);
}

TEST(Matches, AreLinesAfterTheirOffsets) {
  const auto page = matches_in(lines(100), "^line 7.$", 0, 10'000);
  ASSERT_TRUE(page);
  EXPECT_THAT(page->text, HasSubstr("550: line 70\n"));
  EXPECT_EQ(std::ranges::count(page->text, '\n'), 10);
  EXPECT_FALSE(page->next);
}

TEST(Matches, GoOnWhereTheOutputWasFull) {
  const std::string text = lines(1'000);
  std::size_t found = 0;
  std::optional<std::size_t> at = 0;
  while (at) {
    const auto page = matches_in(text, "line", *at, 500);
    ASSERT_TRUE(page);
    EXPECT_LE(page->text.size(), 500);
    found += std::ranges::count(page->text, '\n');
    at = page->next;
  }
  EXPECT_EQ(found, 1'000);
}

TEST(Matches, OfALongLineShowWhatIsAroundThem) {
  std::string text(1U << 20, '.');
  text.replace(500'000, 6, "needle");
  text.replace(900'000, 6, "needle");
  const auto page = matches_in(text, "needle", 0, 10'000);
  ASSERT_TRUE(page);
  EXPECT_EQ(std::ranges::count(page->text, '\n'), 2);
  EXPECT_THAT(page->text, HasSubstr("499880: "));
  EXPECT_LT(page->text.size(), 1'000);
}

TEST(Matches, SearchOnlySoMuchAtOnce) {
  const std::string text = std::string(most_searched, '\n') + "needle";
  const auto page = matches_in(text, "needle", 0, 1'000);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->text, "");
  EXPECT_THAT(page->next, Optional(most_searched));
  EXPECT_THAT(matches_in(text, "needle", most_searched, 1'000)->text, HasSubstr(": needle"));
}

TEST(Matches, OfAPatternThatMayBeSlowAreSearchedForInLess) {
  const std::string text = lines(most_searched / 8);
  for (const char* pattern : {"needle[0-9]", "z.*y", "(ab?a?){20}x"}) {
    const auto page = matches_in(text, pattern, 0, 1'000);
    ASSERT_TRUE(page) << pattern;
    EXPECT_EQ(page->text, "");
    EXPECT_GE(*page->next, least_searched / 2) << pattern;
    EXPECT_LE(*page->next, most_searched / 4) << pattern;
  }
  EXPECT_GT(*matches_in(text, "^needle|needle$", 0, 1'000)->next, most_searched / 2);
}

// Else each match could read all that follows.
TEST(Matches, DoNotGoOnBeyondTheirLine) {
  const auto page = matches_in("x\nx\ny\n", "x[^y]*y|x", 0, 1'000);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->text, "0: x\n2: x\n");
  EXPECT_FALSE(matches_in("a\nb", "a\nb", 0, 1'000)->text.contains("a"));
}

TEST(Matches, AreFoundWhereverTheyLieInALongLine) {
  for (std::size_t at : {16'380U, 16'384U, 31'744U, 99'990U}) {
    std::string text(100'000, '.');
    text.replace(at, 6, "needle");
    for (const char* pattern : {"needle", "ne+dle"}) {
      EXPECT_THAT(matches_in(text, pattern, 0, 1'000)->text, HasSubstr("needle")) << at;
    }
  }
  const std::string text(100'000, '.');
  EXPECT_EQ(matches_in(text, "\\.$", 0, 1'000)->text.substr(0, 7), "99879: ")
      << "the end of what is looked at is not the end of the line";
}

TEST(Matches, OfNothingEndToo) {
  for (const char* pattern : {"", "x*", "$", "^"}) {
    const auto page = matches_in("a\n\nb\n", pattern, 0, 1'000);
    ASSERT_TRUE(page) << pattern;
    EXPECT_FALSE(page->next) << pattern;
  }
}

TEST(Matches, APatternThatIsNoneIsSaidToBe) {
  EXPECT_FALSE(matches_in("text", "(", 0, 100));
  EXPECT_FALSE(matches_in("text", std::string(2'000, 'x'), 0, 100));
  EXPECT_FALSE(matches_in("text", "((a{1000}){1000}){1000}", 0, 100));
}

}  // namespace
}  // namespace cellblock
