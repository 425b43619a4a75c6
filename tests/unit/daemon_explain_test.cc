#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "policy/config_check/config_check.h"
#include "policy/sandbox/weakenings.h"
#include "supervisor/loader/report/check_report.h"
#include "supervisor/loader/report/explain_rights.h"
#include "supervisor/loader/report/explain_server.h"
#include "supervisor/loader/report/run_identity.h"

namespace cellblock {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr auto text = R"([server.git]
command = ["/usr/bin/git-mcp"]
[[server.git.rule]]
effect = "allow"
users = [1001]
tools = ["git_*"]
[[server.git.rule]]
effect = "ask"
users = [1001]
tools = ["git_commit"]
[[server.git.rule]]
effect = "deny"
tools = ["git_push"]
arguments = { force = { equals = true } }
)";

std::string lines_of(Complaints& complaints) {
  std::string lines;
  for (const Complaint& complaint : complaints.take_sorted()) lines += to_line(complaint) + "\n";
  return lines;
}

Config config_of(const char* toml) {
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 4096;
  facts.landlock_abi = 7;
  facts.users = {{"cellblock", {990, 991}}};
  facts.groups = {{"cellblock", 991}};
  for (const char* path : {"/srv/data", "/srv/site", "/srv/out"}) {
    facts.sources[path] = {PathKind::directory, path};
  }
  facts.sources["/srv/keys"] = {PathKind::file, "/srv/keys"};
  Complaints complaints;
  const std::vector<ConfigText> texts{
      parse_config_text(toml, "c.toml", FileRole::main, complaints)};
  Config config = check_config({RunMode::system, {}, texts}, facts, complaints);
  EXPECT_FALSE(complaints.has_errors()) << lines_of(complaints);
  return config;
}

class Explained : public ::testing::Test {
 protected:
  Result<Explanation> call(std::uint32_t uid, const std::string& tool,
                           const std::string& arguments = "") const {
    return explain_call({config_.servers.at(0), "c.toml"},
                        subject_of(config_.roles, {uid, uid, {}}), {config_.flows, "main.toml"},
                        {tool, arguments});
  }
  Explanation rights(std::uint32_t uid) const {
    return explain_rights({config_.servers.at(0), "c.toml"},
                          subject_of(config_.roles, {uid, uid, {}}), config_.identity);
  }

  Config config_ = config_of(text);
};

TEST_F(Explained, CallsNameTheDecidingRuleInBothForms) {
  struct Row {
    std::uint32_t uid;
    const char* tool;
    const char* arguments;
    Effect effect;
    const char* word;
    bool listed;
    int line;
  };
  for (const Row& row : {Row{1001, "git_log", "", Effect::allow, "allow", true, 3},
                         Row{1001, "git_commit", "", Effect::ask, "ask", true, 7},
                         Row{1001, "git_push", R"({"force":true})", Effect::deny, "deny", true, 11},
                         Row{1002, "git_log", "", Effect::deny, "deny", false, 0}}) {
    const auto explained = call(row.uid, row.tool, row.arguments);
    ASSERT_TRUE(explained) << explained.error().text;
    EXPECT_EQ(explained->effect, row.effect) << row.tool;
    EXPECT_THAT(explained->text, HasSubstr(std::string("git ") + row.tool + ": " + row.word));
    const json object = json::parse(explained->json);
    EXPECT_EQ(object["effect"], row.word);
    EXPECT_EQ(object["listed"], row.listed);
    EXPECT_EQ(object["rule"].is_null() ? json(0) : object["rule"]["line"], row.line);
  }
}

TEST_F(Explained, CallsWhoseArgumentsWereNotToldDependOnThemWhereTheyDecide) {
  const auto explained = call(1001, "git_push", "");
  ASSERT_TRUE(explained) << explained.error().text;
  EXPECT_EQ(explained->effect, std::nullopt);
  EXPECT_THAT(explained->text, HasSubstr("git git_push: depends\n"));
  EXPECT_THAT(explained->text, HasSubstr("  deny  tools git_push, with force "));
  const json object = json::parse(explained->json);
  EXPECT_EQ(object["effect"], "depends");
  EXPECT_EQ(object["rules"].size(), 2U);
  EXPECT_EQ(call(1002, "git_push", "")->effect, Effect::deny);
}

TEST_F(Explained, CallsThatCanSendNameWhatFlowsMakeOfThemLater) {
  struct Row {
    FlowEffect trifecta;
    const char* tool;
    const char* headline;
    json later;
  };
  config_.servers[0].network = NetworkMode::host;
  for (const Row& row :
       {Row{FlowEffect::off, "git_log", "git_log: allow\n", nullptr},
        Row{FlowEffect::log, "git_log", "git_log: allow\n", nullptr},
        Row{FlowEffect::ask, "git_log", "git_log: allow, later ask\n", "ask"},
        Row{FlowEffect::deny, "git_log", "git_log: allow, later deny\n", "deny"},
        Row{FlowEffect::ask, "git_commit", "git_commit: ask\n", nullptr},
        Row{FlowEffect::deny, "git_commit", "git_commit: ask, later deny\n", "deny"},
        Row{FlowEffect::deny, "push", "push: deny\n", nullptr}}) {
    config_.flows.trifecta = row.trifecta;
    const auto explained = call(1001, row.tool, "{}");
    ASSERT_TRUE(explained) << explained.error().text;
    EXPECT_THAT(explained->text, HasSubstr(row.headline));
    const json flows = json::parse(explained->json)["flows"];
    EXPECT_EQ(flows.is_null() ? flows : flows["effect"], row.later) << row.headline;
  }
  config_.flows.trifecta = FlowEffect::deny;
  EXPECT_THAT(call(1001, "git_push")->text, HasSubstr("git_push: depends, later deny\n"));
  EXPECT_EQ(call(1001, "git_log", "{}")->effect, Effect::allow) << "as long as nothing was read";
  config_.servers[0].network = NetworkMode::none;
  EXPECT_THAT(call(1001, "git_log", "{}")->text, HasSubstr("git_log: allow\n"));
}

TEST_F(Explained, CallsNeedAnObjectOfArguments) {
  const auto list = call(1001, "git_log", R"([{"a":1}])");
  ASSERT_FALSE(list);
  EXPECT_THAT(list.error().text, HasSubstr(R"(the arguments [{"a":1}] are no JSON object)"));
  const auto broken = call(1001, "git_log", "{");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().text, HasSubstr(R"(write them as {"name": "value"})"));
}

TEST_F(Explained, RightsAreAllThatBindsTheUserTheStrictestFirst) {
  const Explanation alice = rights(1001);
  EXPECT_EQ(alice.effect, Effect::allow);
  const json object = json::parse(alice.json);
  EXPECT_EQ(object["usable"], true);
  ASSERT_EQ(object["rules"].size(), 3U);
  EXPECT_EQ(object["rules"][0]["effect"], "deny");
  EXPECT_EQ(object["rules"][1]["name"], "server.git.rule[2]");
  EXPECT_THAT(alice.text, HasSubstr("  deny  tools git_push, with force "));
  EXPECT_EQ(rights(1002).effect, Effect::deny);
  EXPECT_EQ(json::parse(rights(1002).json)["usable"], false);
}

constexpr auto seen = R"([role.ops]
users = [1003]
[server.web]
command = ["/usr/bin/web-mcp", "--fast"]
read = ["/srv/data", "/srv/site:/site"]
home_files = { ".config/keys" = "/srv/keys" }
write = ["/srv/out"]
run_as = "client"
home = "temporary"
network = "egress"
egress = { allow = ["api.example.org:8443"] }
env = { MODE = "quiet" }
limits = { pids = 32 }
client_features = ["elicitation"]
[[server.web.rule]]
effect = "allow"
groups = [77]
roles = ["ops"]
tools = ["fetch"]
[[server.web.rule]]
effect = "deny"
tools = ["post_*"]
)";

TEST(ExplainedServer, IsAllThatItCanSeeAndDoInPlainWords) {
  const Config config = config_of(seen);
  const Explanation server =
      explain_server({config.servers.at(0), "c.toml"}, config,
                     {.user = [](std::uint32_t uid) { return "u" + std::to_string(uid); },
                      .group = [](std::uint32_t gid) { return "g" + std::to_string(gid); }});
  EXPECT_EQ(server.effect, Effect::allow);
  for (const char* words :
       {"web: what it can see and do, as c.toml declares it\n", "/usr/bin/web-mcp --fast",
        "it runs as client, the connecting user: ", "reads /srv/data\n",
        "reads /srv/site, which it sees as /site",
        "reads /srv/keys, which it sees as /home/mcp/.config/keys", "reads and writes /srv/out",
        "home directory of 64MiB", "reaches only api.example.org:8443", "the profile \"native\"\n",
        "variables     MODE\n", "secrets       none\n", "32 processes", "memory is not limited",
        "processor time is not limited", "asks the user (elicitation)",
        "who may call  group g77, role ops: allow tools fetch (server.web.rule[1], c.toml:",
        "everybody: deny tools post_* (server.web.rule[2]",
        "weakened      run_as = \"client\" ("}) {
    EXPECT_THAT(server.text, HasSubstr(words));
  }
  EXPECT_THAT(server.text, ::testing::Not(HasSubstr("quiet")));
  const json object = json::parse(server.json);
  EXPECT_EQ(object["server"], "web");
  EXPECT_EQ(object["variables"], json::array({"MODE"}));
  EXPECT_EQ(object["who_may_call"].size(), 3U);
}

TEST(ExplainedServer, OfALittleDeclarationSaysWhatItMayNot) {
  const Config config = config_of("[server.cat]\ncommand = [\"/usr/bin/cat\"]\n");
  const auto number = [](std::uint32_t id) { return std::to_string(id); };
  const Explanation server =
      explain_server({config.servers.at(0), "c.toml"}, config, {.user = number, .group = number});
  for (const char* words :
       {"network       none: no name exists for it, and it can make no TCP connection\n",
        "variables     none but what every cell has\n",
        "questions     asks the host and its user nothing\n",
        "who may call  nobody: no rule gives anything\n",
        "it runs as a dedicated uid, a stranger to all files below",
        "weakened      in nothing\n"}) {
    EXPECT_THAT(server.text, HasSubstr(words));
  }
}

TEST(ExplainedServer, IsWeakenedAndRunsAsTheCheckSaysIt) {
  const auto number = [](std::uint32_t id) { return std::to_string(id); };
  for (const auto mode : {RunMode::system, RunMode::user}) {
    LoadedConfig loaded;
    loaded.config = config_of("[server.cat]\ncommand = [\"/usr/bin/cat\"]\n");
    loaded.config.mode = mode;
    const Config& config = loaded.config;
    const std::string checked = check_report("c.toml", loaded);
    const std::string explained =
        explain_server({config.servers.at(0), "c.toml"}, config, {.user = number, .group = number})
            .text;
    const std::string identity = "runs as " + run_identity(config.servers.at(0), mode);
    EXPECT_THAT(checked, HasSubstr(identity + ","));
    EXPECT_THAT(explained, HasSubstr(identity));
    ASSERT_FALSE(weakenings_of(config).empty());
    for (const std::string& weakening : weakenings_of(config)) {
      EXPECT_THAT(checked, HasSubstr("  weakened: " + weakening + "\n"));
      EXPECT_THAT(explained, HasSubstr(" weakened: " + weakening + "\n"));
    }
  }
}

TEST(ExplainedServer, ShowsControlCharactersOfADeclarationInsteadOfSendingThem) {
  const Config config = config_of(
      "[server.cat]\ncommand = [\"/usr/bin/cat\", \"\\u001b[31mred\\nweakened in nothing\"]\n");
  const auto number = [](std::uint32_t id) { return std::to_string(id); };
  const Explanation server =
      explain_server({config.servers.at(0), "c.toml"}, config, {.user = number, .group = number});
  EXPECT_THAT(server.text, HasSubstr("/usr/bin/cat \\x1b[31mred\\x0aweakened in nothing\n"));
}

}  // namespace
}  // namespace cellblock
