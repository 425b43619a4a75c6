#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/gateway/session/status_report.h"
#include "tests/unit/session_rig.h"

/// A server that is left out: nothing of it starts, and those who might use it hear why.
namespace cellblock::gateway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LeftOutTest : public SessionTest {
 protected:
  LeftOutTest() {
    config_.servers[0].breakage = {
        .cause = "read: \"/srv/x\" does not exist", .file = "/etc/cellblock/c.toml", .line = 7};
  }
  Json error() const { return Json::parse(effects_.control.back())["error"]; }
  Json status(Reach reach) const {
    const std::vector<ServerRow> rows{{.server = &config_.servers[0], .cells = {}}};
    return Json::parse(status_json(config_, rows, {}, {}, reach));
  }
};

TEST_F(LeftOutTest, IsNamedWithItsCauseToWhomItIsFor) {
  attach();
  EXPECT_EQ(error()["data"]["code"], "server_failed");
  EXPECT_THAT(std::string(error()["message"]),
              HasSubstr("broken and left out: read: \"/srv/x\" does not exist "
                        "(/etc/cellblock/c.toml:7)"));
  EXPECT_THAT(std::string(error()["data"]["advice"]), HasSubstr("cellblock reload"));
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(LeftOutTest, DoesNotExistForOthers) {
  config_.servers[0].rules.clear();
  attach();
  EXPECT_EQ(error()["data"]["code"], "not_allowlisted");
}

TEST_F(LeftOutTest, IsSwitchedOffWhereItsDeclarationSaysSo) {
  config_.servers[0].enabled = false;
  attach();
  EXPECT_EQ(error()["data"]["code"], "disabled");
}

TEST_F(LeftOutTest, IsBrokenInStatus) {
  const Json server = status(Reach::own_servers)["servers"][0];
  EXPECT_EQ(server["state"], "broken");
  EXPECT_EQ(server["broken"], "read: \"/srv/x\" does not exist (/etc/cellblock/c.toml:7)");
}

TEST_F(LeftOutTest, IsBrokenByItsCommandUntilACellHasEndedWell) {
  config_.servers[0].breakage = {};
  config_.servers[0].found.no_command = "command: \"/x\" does not exist";
  EXPECT_EQ(status(Reach::own_servers)["servers"][0]["state"], "broken");
  LastEnd end;
  end.failure.verdict = "stopped";
  const std::vector<ServerRow> rows{{.server = &config_.servers[0], .cells = {}, .last_end = &end}};
  const Json json = Json::parse(status_json(config_, rows, {}, {}, Reach::own_servers));
  EXPECT_EQ(json["servers"][0]["state"], "stopped");
}

TEST_F(LeftOutTest, RolesAndTokensAreTheAdministratorsToHear) {
  config_.broken = {{"role.dev", {.cause = "role.dev.users: there is no user \"carol\" here"}}};
  EXPECT_FALSE(status(Reach::own_servers).contains("broken"));
  EXPECT_EQ(status(Reach::everything)["broken"][0]["name"], "role.dev");
}

}  // namespace
}  // namespace cellblock::gateway::testing
