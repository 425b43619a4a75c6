#include "supervisor/loader/report/key_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "policy/config_reader/config_text.h"
#include "policy/config_reader/key_list.h"
#include "supervisor/loader/report/effective_keys.h"

namespace cellblock {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> paths_below(std::string_view part) {
  std::vector<std::string> paths;
  for (const KeyEntry& key : keys_below(list_keys(), part)) paths.push_back(key.path);
  return paths;
}

TEST(KeyList, NamesEachKeyOnce) {
  std::vector<std::string> paths = paths_below("");
  EXPECT_GT(paths.size(), 200U);
  std::ranges::sort(paths);
  EXPECT_EQ(std::ranges::adjacent_find(paths), paths.end());
}

TEST(KeyList, TakesAnyNameWhereTheAdminChoosesOne) {
  EXPECT_THAT(paths_below("server.files.egress.allow"),
              ::testing::ElementsAre("server.NAME.egress.allow"));
  EXPECT_THAT(paths_below("server.NAME.egress.allow"), ::testing::SizeIs(1));
  EXPECT_THAT(paths_below("server.files.rule.effect"),
              ::testing::ElementsAre("server.NAME.rule[].effect"));
  EXPECT_THAT(paths_below("server.files.egres"), IsEmpty());
  EXPECT_THAT(paths_below("listen.http.token.file"), ::testing::SizeIs(1));
}

TEST(KeyReport, TellsTypeRangeDefaultAndMeaning) {
  EXPECT_EQ(keys_text("server.files.limits.pids"),
            "server.NAME.limits.pids\n"
            "    an integer: 1 to 32768; default 256\n"
            "    RLIMIT_NPROC, and pids.max; threads count\n");
  EXPECT_EQ(keys_text("server.files.limit"), std::nullopt);
}

TEST(KeyReport, ThePageInTheDocumentationIsWhatItPrints) {
  std::ifstream page(CELLBLOCK_SOURCE "/docs/configuration/reference.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  EXPECT_EQ(text, keys_markdown())
      << "cellblockd --keys --markdown > docs/configuration/reference.md";
}

TEST(KeyReport, TheSchemaHasEachTableAndAllowsNoOtherKey) {
  const json schema = json::parse(keys_schema());
  EXPECT_EQ(schema.at("additionalProperties"), false);
  const json& server = schema.at("properties").at("server").at("additionalProperties");
  EXPECT_EQ(server.at("additionalProperties"), false);
  const json& limits = server.at("properties").at("limits");
  EXPECT_EQ(limits.at("additionalProperties"), false);
  EXPECT_EQ(limits.at("properties").at("pids").at("maximum"), 32'768);
  const json& rule = server.at("properties").at("rule");
  EXPECT_EQ(rule.at("type"), "array");
  EXPECT_TRUE(rule.at("items").at("properties").contains("effect"));
  const json& results = server.at("properties").at("results").at("properties");
  EXPECT_EQ(results.at("bounds").at("enum"), json({"on", "off"}));
}

Config small_config() {
  Config config;
  config.listen.socket = "/run/x.sock";
  config.state_directory = "/var/lib/x";
  config.audit_log = "/var/log/x.jsonl";
  Server server;
  server.name = "a";
  server.command = {"/usr/bin/x", "say \"\\\n\x7f"};
  server.environment = {{"V", "1"}};
  server.network = NetworkMode::egress;
  server.calls.tools = {{.name = "t.u", .bounds = {.rate = Rate{10, std::chrono::seconds{1}, 20}}}};
  config.servers = {server};
  return config;
}

TEST(EffectiveKeys, WhatIsPrintedIsAConfigurationOfWhichEveryKeyIsKnown) {
  Complaints complaints;
  const std::string text = effective_text(small_config());
  const ConfigText read = parse_config_text(text, "c.toml", FileRole::main, complaints);
  std::string said;
  for (const Complaint& complaint : complaints.take_sorted()) said += to_line(complaint) + "\n";
  EXPECT_EQ(said, "") << text;
  ASSERT_EQ(read.servers.size(), 1U);
  EXPECT_EQ(read.servers[0].command->value.at(1).value, "say \"\\\n\x7f");
  ASSERT_EQ(read.servers[0].tools.size(), 1U);
  EXPECT_EQ(read.servers[0].tools[0].name.value, "t.u");
  EXPECT_EQ(read.servers[0].tools[0].keys.text("rate")->value, "10/s");
}

TEST(EffectiveKeys, WhatHasNoValueIsAComment) {
  EXPECT_THAT(effective_text(small_config()), HasSubstr("# server.a.limits.memory: none\n"));
}

TEST(ChangedKeys, AreTheKeysWhoseValuesDifferWithBothButForVariables) {
  const Config used = small_config();
  Config fresh = used;
  fresh.servers[0].limits.pids = 7;
  fresh.servers[0].environment.clear();
  fresh.cells.in_all = 3;
  std::string told;
  for (const ChangedKey& key : changed_keys(used, fresh)) {
    told += key.path + " " + key.from + " " + key.to + "\n";
  }
  EXPECT_EQ(told,
            "daemon.max_cells 1024 3\n"
            "server.a.limits.pids 256 7\n");
  EXPECT_THAT(changed_keys(used, used), IsEmpty());
}

TEST(ChangedKeys, NothingIsToldOfServersThatCameOrWent) {
  const Config used = small_config();
  Config fresh = used;
  fresh.servers[0].removed = true;
  fresh.servers[0].limits.pids = 7;
  fresh.servers.push_back(used.servers[0]);
  EXPECT_THAT(changed_keys(used, fresh), IsEmpty());
}

}  // namespace
}  // namespace cellblock
