#include <gmock/gmock.h>

#include <string>

#include "policy/config/installation_keys.h"
#include "policy/config_check/daemon_check.h"
#include "policy/config_check/value_check.h"
#include "tests/unit/one_complaint.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;

struct Checked : OneComplaint {
  CellBounds bounds;
};

Checked check(const std::string& lines, RunMode mode = RunMode::system) {
  Complaints complaints;
  const ConfigText text =
      parse_config_text("[daemon]\n" + lines, "c.toml", FileRole::main, complaints);
  const Scope scope{complaints, "c.toml", "daemon."};
  Config config;
  read_keys(scope, text.daemon, DaemonTable{config});
  check_cell_bounds(scope, text.daemon, mode, config.cells);
  return {one_complaint(complaints), config.cells};
}

TEST(CellBoundsCheck, TakesWhatIsSaid) {
  EXPECT_EQ(check("").bounds, CellBounds{});
  EXPECT_EQ(check("max_cells = 10\nmax_cells_per_user = 10").bounds, (CellBounds{10, 10}));
}

TEST(CellBoundsCheck, LeavesOthersAShareWhereOnlyTheSumIsDeclared) {
  EXPECT_EQ(check("max_cells = 100").bounds, (CellBounds{100, 25}));
  EXPECT_EQ(check("max_cells = 10").bounds, (CellBounds{10, 3}));
  EXPECT_EQ(check("max_cells = 1").bounds, (CellBounds{1, 1}));
  EXPECT_EQ(check("max_cells = 10\nmax_cells_per_user = 9").bounds, (CellBounds{10, 9}));
}

TEST(CellBoundsCheck, LeavesTheOnlyUserEverything) {
  EXPECT_EQ(check("max_cells = 10", RunMode::user).bounds, (CellBounds{10, 10}));
  EXPECT_EQ(check("", RunMode::user).bounds, CellBounds{});
}

TEST(CellBoundsCheck, TakesAllForOneUserWhereThatIsDeclared) {
  EXPECT_EQ(check("max_cells_per_user = 1024").bounds, (CellBounds{1024, 1024}));
}

TEST(CellBoundsCheck, RefusesNoneAndMoreThanTheLauncherHasDescriptorsFor) {
  for (const char* number : {"0", "1025", "-1"}) {
    for (const char* key : {"max_cells", "max_cells_per_user"}) {
      const Checked checked = check(std::string(key) + " = " + number);
      EXPECT_EQ(checked.key, std::string("daemon.") + key) << number;
      EXPECT_THAT(checked.says, HasSubstr("1 to 1024")) << number;
    }
  }
}

TEST(CellBoundsCheck, RefusesMoreForOneUserThanForAll) {
  const Checked checked = check("max_cells = 10\nmax_cells_per_user = 11");
  EXPECT_EQ(checked.key, "daemon.max_cells_per_user");
  EXPECT_THAT(checked.says, HasSubstr("1 to 10"));
}

}  // namespace
}  // namespace cellblock
