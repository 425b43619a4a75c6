#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/session_rig.h"

/// A session that narrows itself to a role, and keeps what it has attached to.
namespace cellblock::gateway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RoleTest : public SessionTest {
 protected:
  RoleTest() {
    config_.roles = {{"coder", {1000}, {}}, {"tester", {1001}, {}}};
    Rule code = short_form({}, {}, {{"code", false}});
    code.name = "rule[1]";
    code.roles = 1;
    config_.servers[0].rules.push_back(code);
  }
  Json answer() const { return Json::parse(effects_.control.back()); }
  std::string error() const { return answer()["error"]["data"]["code"]; }
};

TEST_F(RoleTest, HasWhatTheRoleGivesAndNothingElse) {
  attach(R"(,"role":"coder")");
  cell().started(37, now_);
  cell().running(now_);
  EXPECT_EQ(answer()["result"]["role"], "coder");
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a"}})");
  EXPECT_EQ(effects_.last_to_host()["error"]["message"], "Unknown tool: read_a");
  ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"code"}})");
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "code");
}

TEST_F(RoleTest, HasEverythingOfTheUserWithoutOne) {
  attach_and_run();
  EXPECT_FALSE(answer()["result"].contains("role"));
  ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a"}})");
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "read_a");
  ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"code"}})");
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "code");
}

TEST_F(RoleTest, IsRefusedARoleThatIsNotTheUsersAsOneThatDoesNotExist) {
  attach(R"(,"role":"tester")");
  const std::string others = effects_.control.back();
  attach(R"(,"role":"nobody")");
  std::string unknown = effects_.control.back();
  unknown.replace(unknown.find("nobody"), 6, "tester");
  EXPECT_EQ(others, unknown);
  EXPECT_EQ(error(), "denied");
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(RoleTest, KeepsTheRoleThatItHasTaken) {
  config_.roles.push_back({"writer", {1000}, {}});
  config_.servers[0].rules[1].roles = 1;
  attach(R"(,"role":"writer")");
  EXPECT_EQ(error(), "not_allowlisted") << "writers may do nothing here";
  attach();
  EXPECT_EQ(error(), "not_allowlisted") << "who was one is one";
  attach(R"(,"role":"coder")");
  EXPECT_EQ(error(), "denied");
}

TEST_F(RoleTest, KeepsTheRulesOfItsServerWhereItIsRefusedAnother) {
  Server other = config_.servers[0];
  other.name = "others";
  other.rules = {short_form({1000}, {}, {{"write_", true}})};
  config_.servers.push_back(other);
  attach_and_run();
  for (const char* more : {"", R"(,"role":"coder")", R"(,"tools":"search")"}) {
    host_says(R"({"jsonrpc":"2.0","id":7,"method":"cellblock/attach","params":{"server":"others")" +
              std::string(more) + "}}");
    EXPECT_THAT(effects_.last_to_host().dump(), HasSubstr("attached already"));
    host_says(R"({"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"read_a"}})");
    EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "read_a");
    server_answers(R"({"content":[]})");
    effects_.cell.clear();
    host_says(R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write_a"}})");
    EXPECT_THAT(effects_.cell, IsEmpty());
  }
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
}

TEST_F(RoleTest, NamesTheRoleAsAText) {
  for (const char* role : {"7", "\"\"", "null", "[\"coder\"]"}) {
    attach(std::string(R"(,"role":)") + role);
    EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "invalid_request") << role;
  }
}

}  // namespace
}  // namespace cellblock::gateway::testing
