#include "policy/permission.h"

#include <gtest/gtest.h>

#include <array>

namespace cellblock {
namespace {

Allow example() { return {{1000, 1001}, {500}, {{"read_", true}, {"list", false}}}; }

TEST(Permission, DecidesByUserThenByAnyGroup) {
  struct Row {
    std::uint32_t uid, gid;
    std::vector<std::uint32_t> groups;
    bool allowed;
    std::string_view rule;
    const char* why;
  };
  const std::array rows = {
      Row{1000, 100, {}, true, "allow.users", "a named user passes"},
      Row{1002, 500, {}, true, "allow.groups", "the primary group counts"},
      Row{1002, 100, {7, 500}, true, "allow.groups", "a supplementary group counts"},
      Row{1002, 100, {7}, false, "default", "everybody else is denied"},
      Row{0, 0, {}, false, "default", "root is not special"},
      Row{500, 1000, {1001}, false, "default", "uids and gids are not mixed up"},
  };
  const Allow allow = example();
  for (const Row& row : rows) {
    const Decision decision = may_use_server(allow, {row.uid, row.gid, row.groups});
    EXPECT_EQ(decision.allowed, row.allowed) << row.why;
    EXPECT_EQ(decision.rule, row.rule) << row.why;
  }
}

TEST(Permission, TellsAllServersOfAPersonByTheirIndex) {
  std::vector<Server> servers(max_servers + 1);
  servers[64].allow = example();
  servers[255].allow = example();
  servers[256].allow = example();
  ServerSet expected;
  expected.add(64);
  expected.add(255);
  EXPECT_EQ(servers_for(servers, {1000, 100, {}}), expected);
  EXPECT_EQ(servers_for(servers, {1002, 100, {}}), ServerSet{});
  EXPECT_FALSE(expected.contains(63));
  EXPECT_FALSE(expected.contains(256));
  EXPECT_TRUE(expected.contains(ServerSet{}));
}

TEST(Permission, AnEmptyAllowAllowsNobodyAndNothing) {
  EXPECT_FALSE(may_use_server({}, {0, 0, {}}).allowed);
  EXPECT_FALSE(may_call_tool({}, "anything").allowed);
  EXPECT_FALSE(may_call_tool({}, "").allowed);
}

TEST(Permission, ComparesToolNamesAsBytesAndPrefixesWithAnyRest) {
  const Allow allow = example();
  EXPECT_TRUE(may_call_tool(allow, "read_file").allowed);
  EXPECT_TRUE(may_call_tool(allow, "read_").allowed);
  EXPECT_TRUE(may_call_tool(allow, "list").allowed);
  for (const char* tool : {"read", "Read_file", "list_", "lis", "list ", "", "xread_file"}) {
    EXPECT_FALSE(may_call_tool(allow, tool).allowed) << tool;
  }
}

TEST(Permission, ALoneStarAllowsEveryTool) {
  EXPECT_TRUE(may_call_tool({{}, {}, {{"", true}}}, "anything").allowed);
}

}  // namespace
}  // namespace cellblock
