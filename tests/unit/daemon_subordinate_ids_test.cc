#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/loader/identity/subordinate_ids.h"

namespace cellblock::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Ranges = std::vector<IdRange>;

TEST(SubordinateRanges, FindsTheUserByNameAndByNumber) {
  const auto ranges =
      subordinate_ranges("alice:100000:65536\nbob:200000:65536\n1000:300000:16\n", 1000, "alice");
  EXPECT_THAT(ranges, ElementsAre(IdRange{100'000, 65'536}, IdRange{300'000, 16}));
}

TEST(SubordinateRanges, TakesNoOtherUsersRange) {
  EXPECT_THAT(subordinate_ranges("alicia:100000:65536\n10000:1:2\n", 1000, "alice"), IsEmpty());
}

TEST(SubordinateRanges, LeavesMalformedLinesOut) {
  for (const char* line : {"alice", "alice:", "alice:1", "alice:1:", "alice:x:5", "alice:5:x",
                           "alice:-1:5", "alice:1:5:7", "alice: 1:5", ":1:5", "\n\n"}) {
    EXPECT_THAT(subordinate_ranges(line, 1000, "alice"), IsEmpty()) << line;
  }
}

TEST(SubordinateRanges, TakesNeitherRootNorARangeBeyondTheLastId) {
  EXPECT_THAT(subordinate_ranges("a:0:65536\na:4294967295:1\na:4294960000:65536\na:7:0", 1, "a"),
              IsEmpty());
}

TEST(SubordinateRanges, MatchesNobodyWithoutAName) {
  EXPECT_THAT(subordinate_ranges(":100000:65536\n", 1000, ""), IsEmpty());
}

TEST(CommonRange, IsWhatBothListsHold) {
  const Ranges uids{{100'000, 1000}};
  const Ranges gids{{100'500, 1000}};
  EXPECT_EQ(common_range(uids, gids, 1, 65'536), (IdRange{100'500, 500}));
}

TEST(CommonRange, TakesTheWidestAndCutsItToTheLimit) {
  const Ranges uids{{10, 20}, {100'000, 100'000}};
  const Ranges gids{{10, 20}, {100'000, 100'000}};
  EXPECT_EQ(common_range(uids, gids, 1, 65'536), (IdRange{100'000, 65'536}));
}

TEST(CommonRange, IsNothingWithoutEnoughInBoth) {
  const Ranges uids{{100'000, 1000}};
  EXPECT_EQ(common_range(uids, Ranges{{200'000, 1000}}, 1, 10), std::nullopt);
  EXPECT_EQ(common_range(uids, Ranges{{100'990, 1000}}, 16, 65'536), std::nullopt);
  EXPECT_EQ(common_range(uids, {}, 1, 10), std::nullopt);
}

TEST(MapHelper, WritesMapsWithAFileCapabilityThatItsCallerMayHave) {
  EXPECT_TRUE(can_write_maps({.has_file_capability = true, .may_have_capability = true}));
  EXPECT_FALSE(can_write_maps({.has_file_capability = true, .root_may_administer = true}));
  EXPECT_FALSE(can_write_maps({.may_have_capability = true, .root_may_administer = true}));
}

TEST(MapHelper, WritesMapsSetUidOnlyWhereRootMayAdminister) {
  EXPECT_TRUE(can_write_maps({.is_set_uid = true, .root_may_administer = true}));
  EXPECT_FALSE(can_write_maps({.is_set_uid = true, .may_have_capability = true}));
}

TEST(MapHelper, WritesNoMapWhereAnExecGainsNothing) {
  EXPECT_FALSE(can_write_maps({.is_set_uid = true,
                               .has_file_capability = true,
                               .gains_nothing = true,
                               .may_have_capability = true,
                               .root_may_administer = true}));
}

}  // namespace
}  // namespace cellblock::daemon
