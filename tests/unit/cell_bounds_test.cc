#include "supervisor/launcher/cell_bounds.h"

#include <gtest/gtest.h>

namespace cellblock::launcher {
namespace {

using wire::StartRefusal;

TEST(CellBounds, AllowAsManyAsAreDeclared) {
  EXPECT_EQ(over_bound({.in_all = 500, .of_server_and_user = 15}, 16), StartRefusal::none);
  EXPECT_EQ(over_bound({.in_all = 500, .of_server_and_user = 16}, 16),
            StartRefusal::too_many_cells);
}

TEST(CellBounds, SayWhetherItIsAllUsersTogetherThatHaveTooMany) {
  EXPECT_EQ(over_bound({.in_all = max_server_cells - 1}, 16), StartRefusal::none);
  EXPECT_EQ(over_bound({.in_all = max_server_cells}, 16), StartRefusal::too_many_cells_in_all);
  EXPECT_EQ(over_bound({.in_all = max_server_cells, .of_server_and_user = 16}, 16),
            StartRefusal::too_many_cells);
}

TEST(CellBounds, LeaveOthersRoomWhateverOneUserStarts) {
  EXPECT_EQ(over_bound({.in_all = 300, .of_user = max_user_cells - 1}, 16), StartRefusal::none);
  EXPECT_EQ(over_bound({.in_all = 300, .of_user = max_user_cells}, 16),
            StartRefusal::too_many_cells_in_all);
}

}  // namespace
}  // namespace cellblock::launcher
