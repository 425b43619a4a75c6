#include "policy/config/id_table.h"

#include <gmock/gmock.h>

namespace cellblock {
namespace {

// As the state directory does it, once the line is on disk.
std::optional<std::uint32_t> take(IdTable& table, const char* server, std::uint32_t user) {
  const auto found = table.find(server, user);
  if (!found) return std::nullopt;
  if (found->standing == IdTable::Standing::free) table.assign(server, user, found->id);
  return found->id;
}

using testing::HasSubstr;

TEST(IdTable, GivesEachServerAndUserAnIdOfItsOwn) {
  IdTable table(200'000, 4);
  EXPECT_EQ(take(table, "files", 1000), 200'000U);
  EXPECT_EQ(take(table, "files", 1001), 200'001U);
  EXPECT_EQ(take(table, "git", 1000), 200'002U);
}

TEST(IdTable, GivesTheSamePairTheSameIdAgain) {
  IdTable table(200'000, 4);
  EXPECT_EQ(take(table, "files", 1000), 200'000U);
  EXPECT_EQ(table.find("files", 1000)->standing, IdTable::Standing::assigned);
  EXPECT_EQ(take(table, "files", 1000), 200'000U);
}

TEST(IdTable, OffersAnIdAgainThatCouldNotBeRecorded) {
  IdTable table(200'000, 4);
  EXPECT_EQ(table.find("files", 1000)->id, 200'000U);
  EXPECT_EQ(take(table, "git", 1000), 200'000U);
  EXPECT_EQ(take(table, "files", 1000), 200'001U);
}

TEST(IdTable, RefusesWhenTheRangeIsUsedUp) {
  IdTable table(200'000, 2);
  take(table, "a", 1);
  take(table, "b", 1);
  EXPECT_FALSE(take(table, "c", 1));
  EXPECT_TRUE(take(table, "a", 1));
}

TEST(IdTable, SharesTheOneIdWhereTheRangeIsOne) {
  IdTable table(1000, 1);
  EXPECT_EQ(take(table, "a", 1000), 1000U);
  EXPECT_EQ(take(table, "b", 1000), 1000U);
  EXPECT_EQ(table.find("b", 1000)->standing, IdTable::Standing::assigned);
}

TEST(IdTable, KeepsIdsAcrossARestart) {
  IdTable before(200'000, 8);
  std::string lines;
  for (const char* server : {"a", "b", "c"}) {
    lines += IdTable::format(server, 7, *take(before, server, 7));
  }
  IdTable after(200'000, 8);
  ASSERT_TRUE(after.restore(lines));
  EXPECT_EQ(take(after, "b", 7), take(before, "b", 7));
  EXPECT_EQ(take(after, "d", 7), 200'003U);
}

TEST(IdTable, NeverGivesAnIdTwiceEvenAfterAGap) {
  IdTable table(200'000, 8);
  ASSERT_TRUE(table.restore("a 1 200005\n"));
  EXPECT_EQ(take(table, "b", 1), 200'006U);
}

TEST(IdTable, RefusesAFileThatDoesNotMakeSense) {
  const struct {
    const char* lines;
    const char* complaint;
  } rows[] = {
      {"a 1\n", "line 1: not of the form"},
      {"a 1 200000 x\n", "not of the form"},
      {"a -1 200000\n", "not of the form"},
      {"a 1 2000001x\n", "not of the form"},
      {" 1 200000\n", "not of the form"},
      {"a 1 0\n", "outside the range"},
      {"a 1 200008\n", "outside the range"},
      {"a 1 200000\nb 1 200000\n", "line 2: an id that was given twice"},
      {"a 1 200000\na 1 200001\n", "given twice"},
  };
  for (const auto& row : rows) {
    IdTable table(200'000, 8);
    const auto restored = table.restore(row.lines);
    ASSERT_FALSE(restored) << row.lines;
    EXPECT_THAT(restored.error().text, HasSubstr(row.complaint)) << row.lines;
  }
}

}  // namespace
}  // namespace cellblock
