#include "supervisor/daemon/status/installation_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "supervisor/loader/report/declared_parts.h"

namespace cellblock {
namespace {

using Json = nlohmann::json;

Server server(const char* name) {
  Server made;
  made.name = name;
  made.command = {"/usr/bin/tool"};
  return made;
}

Json report(const Config& config, const InstallationState& state) {
  return Json::parse(installation_json(config, state, declared_parts(config)));
}

TEST(InstallationReport, HasTheStateAndEveryDeclaredServer) {
  Config config;
  config.servers = {server("files"), server("git"), server("gone")};
  config.servers[1].breakage.cause = "no \"git\"\there";
  config.servers[2].removed = true;
  config.audit_log = "/srv/log/audit.jsonl";
  const Json json = report(config, {.users = 2, .cells = 3, .last_failure = "it \\ failed"});
  EXPECT_EQ(json["enabled"], true);
  EXPECT_EQ(json["users"], 2);
  EXPECT_EQ(json["cells"], 3);
  EXPECT_EQ(json["last_failure"], "it \\ failed");
  EXPECT_EQ(json["audit"]["written"], true);
  EXPECT_EQ(json["audit"]["log"], "/srv/log/audit.jsonl");
  ASSERT_EQ(json["servers"].size(), 2U);
  EXPECT_EQ(json["servers"][0]["state"], "stopped");
  EXPECT_FALSE(json["servers"][0].contains("broken"));
  EXPECT_EQ(json["servers"][1]["state"], "broken");
  EXPECT_NE(json["servers"][1]["broken"].get<std::string>().find("no \"git\""), std::string::npos);
}

TEST(InstallationReport, TellsWhoSwitchedOffAndWhy) {
  const Json json = report({}, {.switched_off = true, .switched_by = 1000, .reason = "a\nb"});
  EXPECT_EQ(json["enabled"], false);
  EXPECT_EQ(json["switch"], (Json{{"off", true}, {"by", 1000}, {"reason", "a\nb"}}));
  EXPECT_EQ(json["servers"], Json::array());
  EXPECT_EQ(json["broken"], Json::array());
}

TEST(InstallationReport, HasRolesAndTokensThatAreLeftOut) {
  Config config;
  config.broken = {{"role.dev", {.cause = "no such user"}}};
  const Json json = report(config, {});
  ASSERT_EQ(json["broken"].size(), 1U);
  EXPECT_EQ(json["broken"][0]["name"], "role dev");
}

}  // namespace
}  // namespace cellblock
