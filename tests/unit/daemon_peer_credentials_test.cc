#include <gtest/gtest.h>

#include "supervisor/daemon/sockets/peer_credentials.h"

namespace cellblock::daemon {
namespace {

Server server_for(std::vector<std::uint32_t> uids, std::vector<std::uint32_t> gids) {
  Server server;
  server.rules = {short_form(std::move(uids), std::move(gids), {})};
  return server;
}

Config two_servers() {
  Config config;
  config.identity = {.uid = 900, .gid = 900, .first_cell_id = 200'000, .cell_ids = 100};
  config.servers = {server_for({1000}, {}), server_for({1001, 200'000}, {50})};
  return config;
}

struct Case {
  const char* what;
  Peer peer;
  bool expected;
};

TEST(MayConnect, IsForThoseWhomSomeServerNames) {
  const Config config = two_servers();
  const Case cases[] = {
      {"the user of the first server", {1000, 1000, 1, {}}, true},
      {"the user of the last server", {1001, 1001, 1, {}}, true},
      {"by the first group", {1002, 50, 1, {}}, true},
      {"by another group", {1003, 1003, 1, {7, 50}}, true},
      {"nobody's user", {1004, 1004, 1, {7, 8}}, false},
      {"a user id that is only a group's", {50, 51, 1, {}}, false},
      {"a group id that is only a user's", {1005, 1000, 1, {1001}}, false},
      {"root, whom nothing names", {0, 0, 1, {}}, false},
      {"a cell, even if it is named", {200'000, 50, 1, {50}}, false},
      {"the last cell, by a group", {200'099, 50, 1, {}}, false},
      {"past the cells, by a group", {200'100, 50, 1, {}}, true},
  };
  for (const Case& one : cases) EXPECT_EQ(may_connect(one.peer, config), one.expected) << one.what;
}

TEST(MayConnect, IsForNobodyWhereThereIsNoServer) {
  Config config = two_servers();
  config.servers.clear();
  EXPECT_FALSE(may_connect({1000, 1000, 1, {}}, config));
}

TEST(MayConnect, RootlessIsForTheUserHimself) {
  Config config = two_servers();
  config.mode = RunMode::user;
  EXPECT_TRUE(may_connect({900, 900, 1, {}}, config));
  EXPECT_FALSE(may_connect({1000, 1000, 1, {}}, config));
  EXPECT_FALSE(may_connect({0, 0, 1, {}}, config));
}

TEST(MayAdminister, IsForRootAndThoseWhoAreNamedButNotForTheUserHimself) {
  Config config = two_servers();
  config.admins = {1000, 1004, 200'000};
  struct Row {
    const char* what;
    std::uint32_t who;
    std::uint32_t whose;
    bool expected;
  };
  const Row rows[] = {
      {"root, for anybody", 0, 1001, true},
      {"root, for root's own", 0, 0, false},
      {"one who is named", 1004, 1001, true},
      {"one who is named, for his own", 1000, 1000, false},
      {"one who is named, for another who is", 1000, 1004, true},
      {"one who is not named", 1001, 1000, false},
      {"one who is not named, for his own", 1001, 1001, false},
      {"the daemon's own user", 900, 1001, false},
      {"a cell, even if it is named", 200'000, 1001, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(may_administer({row.who, row.who, 1, {}}, row.whose, config), row.expected)
        << row.what;
  }
}

TEST(MayAdminister, RootlessIsForTheUserHimself) {
  Config config = two_servers();
  config.mode = RunMode::user;
  EXPECT_TRUE(may_administer({900, 900, 1, {}}, 900, config));
  EXPECT_FALSE(may_administer({0, 0, 1, {}}, 900, config));
  EXPECT_FALSE(may_administer({1000, 1000, 1, {}}, 900, config));
}

}  // namespace
}  // namespace cellblock::daemon
