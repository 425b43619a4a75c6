#include "supervisor/launcher/id_table.h"

#include <gmock/gmock.h>

namespace cellblock::launcher {
namespace {

using testing::HasSubstr;

TEST(IdTable, GivesEachServerAndUserAnIdOfItsOwn) {
  IdTable table(200'000, 4);
  EXPECT_EQ(table.assign("files", 1000)->id, 200'000U);
  EXPECT_EQ(table.assign("files", 1001)->id, 200'001U);
  EXPECT_EQ(table.assign("git", 1000)->id, 200'002U);
}

TEST(IdTable, GivesTheSamePairTheSameIdAgain) {
  IdTable table(200'000, 4);
  EXPECT_TRUE(table.assign("files", 1000)->is_new);
  EXPECT_FALSE(table.assign("files", 1000)->is_new);
  EXPECT_EQ(table.assign("files", 1000)->id, 200'000U);
}

TEST(IdTable, RefusesWhenTheRangeIsUsedUp) {
  IdTable table(200'000, 2);
  table.assign("a", 1);
  table.assign("b", 1);
  EXPECT_FALSE(table.assign("c", 1).has_value());
  EXPECT_TRUE(table.assign("a", 1).has_value());
}

TEST(IdTable, SharesTheOneIdWhereTheRangeIsOne) {
  IdTable table(1000, 1);
  EXPECT_EQ(table.assign("a", 1000)->id, 1000U);
  EXPECT_EQ(table.assign("b", 1000)->id, 1000U);
  EXPECT_FALSE(table.assign("b", 1000)->is_new);
}

TEST(IdTable, KeepsIdsAcrossARestart) {
  IdTable before(200'000, 8);
  std::string lines;
  for (const char* server : {"a", "b", "c"}) {
    lines += IdTable::format(server, 7, before.assign(server, 7)->id);
  }
  IdTable after(200'000, 8);
  ASSERT_TRUE(after.restore(lines));
  EXPECT_EQ(after.assign("b", 7)->id, before.assign("b", 7)->id);
  EXPECT_EQ(after.assign("d", 7)->id, 200'003U);
}

TEST(IdTable, NeverGivesAnIdTwiceEvenAfterAGap) {
  IdTable table(200'000, 8);
  ASSERT_TRUE(table.restore("a 1 200005\n"));
  EXPECT_EQ(table.assign("b", 1)->id, 200'006U);
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
}  // namespace cellblock::launcher
