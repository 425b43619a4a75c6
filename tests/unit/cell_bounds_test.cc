#include "supervisor/launcher/run/cell_bounds.h"

#include <gtest/gtest.h>

namespace cellblock::launcher {
namespace {

using wire::StartRefusal;

constexpr CellBounds bounds{.in_all = 600, .of_user = 100};

StartRefusal refusal_with(const CellCounts& running) { return over_bound(running, bounds, 16); }

TEST(CellBounds, AllowAsManyAsAreDeclared) {
  EXPECT_EQ(refusal_with({.in_all = 500, .of_server_and_user = 15}), StartRefusal::none);
  EXPECT_EQ(refusal_with({.in_all = 500, .of_server_and_user = 16}), StartRefusal::too_many_cells);
}

TEST(CellBounds, SayWhetherItIsTheCellsOfAllServersThatAreTooMany) {
  EXPECT_EQ(refusal_with({.in_all = 599}), StartRefusal::none);
  EXPECT_EQ(refusal_with({.in_all = 600}), StartRefusal::too_many_cells_in_all);
  EXPECT_EQ(refusal_with({.in_all = 600, .of_server_and_user = 16}), StartRefusal::too_many_cells);
}

TEST(CellBounds, LeaveOthersRoomWhateverOneUserStarts) {
  EXPECT_EQ(refusal_with({.in_all = 300, .of_user = 99}), StartRefusal::none);
  EXPECT_EQ(refusal_with({.in_all = 300, .of_user = 100}), StartRefusal::too_many_cells_in_all);
}

}  // namespace
}  // namespace cellblock::launcher
