#include <gmock/gmock.h>

#include <string>

#include "policy/config_check/limits_check.h"
#include "policy/config_reader/config_text.h"
#include "tests/unit/one_complaint.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;

struct Checked : OneComplaint {
  StartRules rules;
};

Checked check(const std::string& start, Server server = {}) {
  Complaints complaints;
  const std::string toml = "[server.git]\nstart = {" + start + "}";
  const ConfigText text = parse_config_text(toml, "c.toml", FileRole::main, complaints);
  check_start({complaints, "c.toml", "server.git."}, text.servers.at(0).start, server);
  return {one_complaint(complaints), server.start};
}

TEST(StartCheck, WhatIsNotSaidHasItsDefault) {
  EXPECT_EQ(check("").rules, StartRules{});
  EXPECT_EQ(check("").key, "");
}

TEST(StartCheck, TakesEachKey) {
  const Checked checked = check(R"(when = "session", warm = 8)");
  EXPECT_EQ(checked.rules, (StartRules{.when = CellStart::session, .warm = 8}));
  EXPECT_EQ(checked.key, "");
}

TEST(StartCheck, RefusesOtherWordsAndNumbers) {
  EXPECT_EQ(check(R"(when = "now")").key, "server.git.start.when");
  for (const char* warm : {"warm = -1", "warm = 9"}) {
    EXPECT_EQ(check(warm).key, "server.git.start.warm") << warm;
    EXPECT_THAT(check(warm).says, HasSubstr("0 to 8")) << warm;
  }
}

TEST(StartCheck, LeavesSessionsAPlaceBesideSpareCells) {
  const Server two{.max_cells_per_user = 2};
  EXPECT_EQ(check("warm = 1", two).key, "");
  EXPECT_THAT(check("warm = 2", two).says, HasSubstr("less than max_cells_per_user (2)"));
}

TEST(StartCheck, RefusesSpareCellsThatNoSessionCouldTake) {
  const Server shared{.cells = CellSharing::per_user};
  const Server with_directory{.workspace = Workspace{}};
  for (const Server& server : {shared, with_directory}) {
    EXPECT_THAT(check("warm = 1", server).says, HasSubstr("allowed: 0"));
    EXPECT_EQ(check("warm = 0", server).key, "");
    EXPECT_EQ(check(R"(when = "session")", server).key, "");
  }
}

}  // namespace
}  // namespace cellblock
