#include "policy/jsonrpc/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"

namespace cellblock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = LineSplitter::Kind;

void feed(LineSplitter& splitter, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = splitter.writable();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    splitter.written(count);
    bytes.remove_prefix(count);
  }
}

std::string show(const LineSplitter::Next& next) {
  return next.kind == Kind::line ? std::string{next.line}
                                 : "too long, " + std::to_string(next.length);
}

void drain(LineSplitter& splitter, std::vector<std::string>& seen) {
  for (auto next = splitter.next(); next.kind != Kind::need_more; next = splitter.next()) {
    seen.push_back(show(next));
  }
}

std::vector<std::string> lines_of(LineSplitter& splitter, std::string_view bytes) {
  std::vector<std::string> seen;
  feed(splitter, bytes);
  drain(splitter, seen);
  return seen;
}

TEST(LineSplitter, GivesWholeLinesAndKeepsTheRest) {
  LineSplitter splitter(100);
  EXPECT_THAT(lines_of(splitter, "one\ntwo\nthr"), ElementsAre("one", "two"));
  EXPECT_EQ(splitter.unfinished(), 3U);
  EXPECT_THAT(lines_of(splitter, "ee\n"), ElementsAre("three"));
  EXPECT_EQ(splitter.unfinished(), 0U);
}

TEST(LineSplitter, HasNothingBeforeTheFirstByte) {
  LineSplitter splitter(100);
  EXPECT_EQ(splitter.next().kind, Kind::need_more);
  EXPECT_EQ(splitter.unfinished(), 0U);
}

TEST(LineSplitter, SplitsAtTheNewlineByteOnly) {
  LineSplitter splitter(100);
  const std::string nul{"a\0b", 3};
  EXPECT_THAT(lines_of(splitter, "a\rb\r\n" + nul + "\n\x0b\x0c\xe2\x80\xa8\xc2\x85\n\n"),
              ElementsAre("a\rb\r", nul, "\x0b\x0c\xe2\x80\xa8\xc2\x85", ""));
}

TEST(LineSplitter, FindsTheSameLinesWhereverTheReadsAreCut) {
  const std::string bytes = "first\n\nthe third line\n123456789012345678901\nshort\nrest";
  for (std::size_t one = 0; one <= bytes.size(); ++one) {
    for (std::size_t two = one; two <= bytes.size(); ++two) {
      LineSplitter splitter(20);
      std::vector<std::string> seen;
      for (const auto& part :
           {bytes.substr(0, one), bytes.substr(one, two - one), bytes.substr(two)}) {
        feed(splitter, part);
        drain(splitter, seen);
      }
      ASSERT_THAT(seen, ElementsAre("first", "", "the third line", "too long, 21", "short"))
          << one << " " << two;
      ASSERT_EQ(splitter.unfinished(), 4U);
    }
  }
}

TEST(LineSplitter, TakesALineOfExactlyTheMaximum) {
  LineSplitter splitter(5);
  EXPECT_THAT(lines_of(splitter, "12345\n123456\n12345\n"),
              ElementsAre("12345", "too long, 6", "12345"));
}

TEST(LineSplitter, DoesNotReportALineOfTheMaximumBeforeItsNewline) {
  LineSplitter splitter(5);
  EXPECT_THAT(lines_of(splitter, "12345"), IsEmpty());
  EXPECT_THAT(lines_of(splitter, "6"), ElementsAre("too long, 6"));
}

TEST(LineSplitter, SkipsAnOverlongLineWithoutBufferingIt) {
  LineSplitter splitter(1000);
  const std::string much(100'000, 'x');
  EXPECT_EQ(lines_of(splitter, much).size(), 1U);
  for (int i = 0; i < 100; ++i) EXPECT_THAT(lines_of(splitter, much), IsEmpty());
  EXPECT_EQ(splitter.unfinished(), 0U);
  EXPECT_LT(splitter.capacity(), 150'000U);
  EXPECT_THAT(lines_of(splitter, "tail\nnext\n"), ElementsAre("next"));
}

TEST(LineSplitter, StaysWithinOneLineAndOneReadWhenEveryReadIsTaken) {
  constexpr std::size_t max_line = 1U << 20;
  LineSplitter splitter(max_line);
  std::size_t largest = 0;
  std::size_t lines = 0;
  std::size_t overlong = 0;
  for (int i = 0; i < 400; ++i) {
    const std::span<char> room = splitter.writable();
    largest = std::max(largest, splitter.capacity());
    std::memset(room.data(), 'x', room.size());
    if (i % 50 == 49) room.back() = '\n';
    splitter.written(room.size());
    for (auto next = splitter.next(); next.kind != Kind::need_more; next = splitter.next()) {
      ++(next.kind == Kind::line ? lines : overlong);
    }
  }
  EXPECT_EQ(lines, 0U);
  EXPECT_EQ(overlong, 8U);
  EXPECT_LE(largest, max_line + 32'768);
}

TEST(LineSplitter, GivesMemoryBackAfterALargeLine) {
  LineSplitter splitter(4U << 20);
  const std::string large(3U << 20, 'x');
  EXPECT_THAT(lines_of(splitter, large + "\nab"), ElementsAre(large));
  EXPECT_LE(splitter.capacity(), 64U << 10);
  EXPECT_THAT(lines_of(splitter, "c\n"), ElementsAre("abc"));
}

TEST(LineSplitter, MakesRoomAtOnceForALineLikeTheLargeOneBefore) {
  LineSplitter splitter(4U << 20);
  const std::string large(3U << 20, 'x');
  EXPECT_THAT(lines_of(splitter, large + "\n"), ElementsAre(large));
  std::set<std::size_t> capacities;
  for (std::size_t sent = 0; sent < large.size(); sent += 4096) {
    EXPECT_THAT(lines_of(splitter, std::string(4096, 'x')), IsEmpty());
    capacities.insert(splitter.capacity());
  }
  EXPECT_LE(capacities.size(), 3U);
  EXPECT_GT(*capacities.rbegin(), large.size());
}

TEST(LineSplitter, OffersAtLeastSixteenKibibytes) {
  LineSplitter splitter(100);
  for (int i = 0; i < 50; ++i) {
    EXPECT_GE(splitter.writable().size(), 16U << 10);
    lines_of(splitter, std::string(90, 'x'));
    EXPECT_GE(splitter.writable().size(), 16U << 10);
    lines_of(splitter, "\n");
  }
}

TEST(LineSplitter, WorksWhenNobodyTakesLinesBetweenReads) {
  LineSplitter splitter(10);
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) bytes += "line\n";
  EXPECT_EQ(lines_of(splitter, bytes).size(), 20'000U);
}

TEST(LineSplitter, KeepsReadableBytesBehindEveryLine) {
  LineSplitter splitter(1U << 20);
  for (const std::size_t length : {1U, 16'383U, 16'384U, 16'447U, 65'535U, 1'048'576U}) {
    std::string bytes(length, 'x');
    feed(splitter, bytes + "\n");
    const LineSplitter::Next next = splitter.next();
    ASSERT_EQ(next.kind, Kind::line);
    unsigned sum = 0;  // the address sanitizer watches these reads
    for (std::size_t i = 0; i < MessageScanner::padding; ++i) {
      sum += static_cast<unsigned char>(next.line.data()[next.line.size() + i]) & 0U;
    }
    EXPECT_EQ(sum, 0U);
  }
}

}  // namespace
}  // namespace cellblock
