#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "policy/access/rights.h"
#include "policy/config/server_list.h"
#include "policy/config_check/config_check.h"
#include "tests/unit/host_of_toml.h"

/// Which fact of the host leaves what out of a configuration, and that it leaves nothing else out.
namespace cellblock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

HostFacts host() {
  std::ifstream file(CELLBLOCK_SOURCE "/tests/config/host.toml", std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  HostFacts facts;
  add_host(content.str(), facts);
  return facts;
}

struct CheckedText {
  Config config;
  std::vector<std::string> errors;
  std::vector<std::string> broken;
  std::vector<std::string> warnings;

  const Server& server(std::string_view name) const {
    return *std::ranges::find(config.servers, name, &Server::name);
  }
};

CheckedText check(const std::string& text, HostFacts facts = host(),
                  RunMode mode = RunMode::system) {
  Complaints complaints;
  const std::vector<ConfigText> texts{
      parse_config_text(text, "/etc/cellblock/cellblock.toml", FileRole::main, complaints)};
  CheckedText checked;
  checked.config = check_config({mode, "/run/x/c.sock", texts}, facts, complaints);
  for (const Complaint& one : complaints.take_sorted()) {
    auto& list = one.severity == Complaint::Severity::error    ? checked.errors
                 : one.severity == Complaint::Severity::broken ? checked.broken
                                                               : checked.warnings;
    list.push_back(one.key + ": " + one.text);
  }
  return checked;
}

const std::string good = R"(
[server.good]
command = ["/usr/bin/x"]
allow = { users = ["alice"], tools = ["*"] }
)";
const std::string bad = "[server.bad]\ncommand = [\"/usr/bin/x\"]\n";
const std::string alice_may = "allow = { users = [\"alice\"], tools = [\"*\"] }\n";

enum class Outcome : std::uint8_t { used, left_out };

// --- who is not here -----------------------------------------------------------------------------

struct UnknownRow {
  const char* effect;
  const char* whom;
  Outcome outcome;
};

TEST(LeftOutCheck, ARuleThatTakesAndNamesAnUnknownLeavesItsServerOutAndOneThatGivesDoesNot) {
  const std::array rows = {
      UnknownRow{"allow", R"(users = ["nobody-here"])", Outcome::used},
      UnknownRow{"allow", R"(users = ["bob", "nobody-here"])", Outcome::used},
      UnknownRow{"allow", R"(groups = ["none-such"])", Outcome::used},
      UnknownRow{"allow", R"(roles = ["partly"])", Outcome::used},
      UnknownRow{"allow", R"(roles = ["whole"])", Outcome::used},
      UnknownRow{"ask", R"(users = ["nobody-here"])", Outcome::left_out},
      UnknownRow{"ask", R"(users = ["bob", "nobody-here"])", Outcome::left_out},
      UnknownRow{"ask", R"(groups = ["none-such"])", Outcome::left_out},
      UnknownRow{"ask", R"(roles = ["partly"])", Outcome::left_out},
      UnknownRow{"ask", R"(roles = ["whole"])", Outcome::used},
      UnknownRow{"deny", R"(users = ["nobody-here"])", Outcome::left_out},
      UnknownRow{"deny", R"(users = ["bob", "nobody-here"])", Outcome::left_out},
      UnknownRow{"deny", R"(groups = ["none-such"])", Outcome::left_out},
      UnknownRow{"deny", R"(roles = ["partly"])", Outcome::left_out},
      UnknownRow{"deny", R"(roles = ["whole"])", Outcome::used},
      UnknownRow{"deny", R"(users = ["bob"])", Outcome::used},
  };
  const std::string roles =
      "[role.partly]\nusers = [\"bob\", \"nobody-here\"]\n[role.whole]\nusers = [\"bob\"]\n";
  for (const UnknownRow& row : rows) {
    const std::string rule = std::string("[[server.bad.rule]]\neffect = \"") + row.effect + "\"\n" +
                             row.whom + "\ntools = [\"*\"]\n";
    const CheckedText checked = check(roles + good + bad + alice_may + rule);
    const std::string name = std::string(row.effect) + " " + row.whom;
    EXPECT_THAT(checked.errors, IsEmpty()) << name;
    EXPECT_TRUE(checked.server("good").is_usable()) << name;
    EXPECT_EQ(checked.server("bad").is_usable(), row.outcome == Outcome::used) << name;
  }
}

TEST(LeftOutCheck, AnUnknownNameThatIsAllowedIsNobodys) {
  const CheckedText checked = check(bad +
                                    "allow = { users = [\"nobody-here\"], groups = "
                                    "[\"none-such\"], tools = [\"*\"] }\n");
  EXPECT_THAT(checked.errors, IsEmpty());
  EXPECT_THAT(checked.broken, IsEmpty());
  EXPECT_THAT(checked.warnings,
              ElementsAre(HasSubstr("server.bad.allow: names no user and no group that is here"),
                          HasSubstr("there is no user \"nobody-here\" here, so nobody is allowed"),
                          HasSubstr("there is no group \"none-such\" here, so nobody is allowed")));
  for (const std::uint32_t uid : {0U, 1001U, 1002U, 65'534U}) {
    const Subject who = subject_of({}, {uid, uid, {}});
    EXPECT_EQ(servers_for(checked.config, who), ServerSet{}) << uid;
  }
}

TEST(LeftOutCheck, ARoleKeepsTheMembersWhoAreHere) {
  const CheckedText checked =
      check("[role.dev]\nusers = [\"alice\", \"nobody-here\"]\ngroups = [\"none-such\"]\n" + good);
  EXPECT_THAT(checked.errors, IsEmpty());
  ASSERT_EQ(checked.config.roles.size(), 1U);
  EXPECT_THAT(checked.config.roles[0].uids, ElementsAre(1001U));
  EXPECT_THAT(checked.config.roles[0].gids, IsEmpty());
  EXPECT_THAT(checked.config.roles[0].unknown,
              ElementsAre("user \"nobody-here\"", "group \"none-such\""));
  ASSERT_EQ(checked.config.broken.size(), 1U);
  EXPECT_EQ(checked.config.broken[0].name, "role.dev");
  EXPECT_THAT(checked.config.broken[0].breakage.cause, HasSubstr("nobody-here"));
  EXPECT_EQ(checked.config.broken[0].breakage.more, 1U);
}

// --- what is not there ---------------------------------------------------------------------------

struct FactRow {
  const char* lines;
  const char* cause;
};

TEST(LeftOutCheck, AMissingOrUnusableFactOfTheHostLeavesOneServerOut) {
  const std::array rows = {
      FactRow{R"(read = ["/srv/none"])", "read: \"/srv/none\" cannot be given to a cell: does not"},
      FactRow{R"(write = ["/srv/socket"])", "write: \"/srv/socket\""},
      FactRow{R"(read = ["/srv/link:/x"])", "leads to /proc/1"},
      FactRow{R"(program = "/opt/none")", "program"},
      FactRow{R"(program = "/opt/open")", "program: somebody else could change"},
      FactRow{R"(run_as = "nobody-here")", "run_as: there is no user"},
      FactRow{R"(run_as = "daemon")", "run_as: \"daemon\" has the system's id"},
      FactRow{R"(env_from_file = { T = "/etc/cellblock/secrets/open" })", "env_from_file.T"},
      FactRow{R"(secret_files = { T = { credential = "gone" } })", "secret_files.T.credential"},
      FactRow{R"(secret_files = { T = { command = ["/opt/none"] } })", "secret_files.T.command"},
      FactRow{R"(secret_files = { T = { command = ["/opt/open"] } })", "could change"},
      FactRow{"limits = { open_files = 5000 }", "limits.open_files: 5000 cannot be enforced"},
  };
  for (const FactRow& row : rows) {
    const CheckedText checked = check(good + bad + alice_may + row.lines + "\n");
    EXPECT_THAT(checked.errors, IsEmpty()) << row.lines;
    EXPECT_TRUE(checked.server("good").is_usable()) << row.lines;
    const Server& server = checked.server("bad");
    EXPECT_FALSE(server.is_usable()) << row.lines;
    EXPECT_THAT(server.breakage.cause, HasSubstr(row.cause));
    EXPECT_EQ(server.breakage.file, "/etc/cellblock/cellblock.toml");
    EXPECT_EQ(server.breakage.line, 8U) << row.lines;
  }
}

TEST(LeftOutCheck, AControllerThatIsMissingLeavesOneServerOutUnlessItsLimitIsNotRequired) {
  HostFacts facts = host();
  facts.cgroup = {.missing_because = "no group of its own"};
  const std::string limits = "limits = { memory = \"1GiB\" }\n";
  const CheckedText required = check(good + bad + alice_may + limits, facts);
  EXPECT_THAT(required.errors, IsEmpty());
  EXPECT_FALSE(required.server("bad").is_usable());
  EXPECT_TRUE(required.server("good").is_usable());
  const std::string best = "limits = { memory = \"1GiB\", require = false }\n";
  EXPECT_TRUE(check(good + bad + alice_may + best, facts).server("bad").is_usable());
}

TEST(LeftOutCheck, ACommandThatIsNotThereIsTriedAllTheSame) {
  const CheckedText checked = check("[server.missing]\ncommand = [\"/usr/bin/x\"]\n" + alice_may);
  EXPECT_THAT(checked.broken, ElementsAre(HasSubstr("does not exist, so this server will not")));
  EXPECT_TRUE(checked.server("missing").is_usable());
  EXPECT_EQ(checked.server("missing").found.no_command, "command: \"/usr/bin/x\" does not exist");
}

TEST(LeftOutCheck, AllCausesAreCountedAndTheFirstIsTold) {
  const CheckedText checked = check(bad + alice_may +
                                    "read = [\"/srv/none\", \"/srv/none2:/x\"]\n"
                                    "run_as = \"nobody-here\"\n");
  EXPECT_EQ(checked.broken.size(), 3U);
  const std::string text = text_of(checked.server("bad").breakage);
  EXPECT_THAT(text, HasSubstr("read: \"/srv/none\""));
  EXPECT_THAT(text, HasSubstr("(/etc/cellblock/cellblock.toml:4); and 2 more: cellblock check"));
}

TEST(LeftOutCheck, ItHoldsWithoutRootAsWell) {
  HostFacts facts = host();
  facts.uid = facts.gid = 1001;
  facts.runtime_directory = "/run/user/1001";
  facts.state_home = "/home/alice/.local/state";
  const CheckedText checked =
      check(good + bad + alice_may + "read = [\"/srv/none\"]\n", facts, RunMode::user);
  EXPECT_THAT(checked.errors, IsEmpty());
  EXPECT_TRUE(checked.server("good").is_usable());
  EXPECT_FALSE(checked.server("bad").is_usable());
}

TEST(LeftOutCheck, AServerThatIsLeftOutGetsNoSecretAndNoMountOfAUsersDirectory) {
  Server server;
  server.name = "git";
  server.rules = {short_form({1001}, {}, {})};
  server.secrets = {{"TOKEN", "/s/token"}};
  server.secret_marks.marks.emplace_back();
  server.owner_mounts = {{.bind = 0, .uid = 1001}};
  leave_out(server, {.cause = "server.git.read: it is gone"});
  EXPECT_FALSE(server.is_usable());
  EXPECT_EQ(server.breakage.cause, "read: it is gone");
  EXPECT_THAT(server.secrets, IsEmpty());
  EXPECT_EQ(server.secret_marks, SecretMarks{});
  EXPECT_THAT(server.owner_mounts, IsEmpty());
  EXPECT_EQ(server.rules.size(), 1U);
}

// --- tokens --------------------------------------------------------------------------------------

std::string token(const std::string& name, const std::string& file, const std::string& user) {
  return "[[listen.http.token]]\nname = \"" + name + "\"\nfile = \"" + file + "\"\nuser = \"" +
         user + "\"\n";
}

const std::string http = "[listen.http]\naddress = \"127.0.0.1\"\nport = 8765\n";

TEST(LeftOutCheck, ATokenWithoutItsFileOrUserIsLeftOutAlone) {
  const CheckedText checked =
      check(http + token("ci", "/t/ci", "alice") + token("old", "/t/bad", "alice") +
            token("gone", "/t/other", "nobody-here") + good);
  EXPECT_THAT(checked.errors, IsEmpty());
  ASSERT_EQ(checked.config.http->tokens.size(), 1U);
  EXPECT_EQ(checked.config.http->tokens[0].name, "ci");
  ASSERT_EQ(checked.config.broken.size(), 2U);
  EXPECT_EQ(checked.config.broken[0].name, "listen.http.token.old");
  EXPECT_EQ(checked.config.broken[1].name, "listen.http.token.gone");
}

TEST(LeftOutCheck, ATokenThatIsLeftOutKeepsItsName) {
  const CheckedText checked =
      check(http + token("ci", "/t/ci", "alice") + token("ci", "/t/bad", "alice") + good);
  EXPECT_THAT(checked.errors, ElementsAre(HasSubstr("is there twice")));
}

// --- what stays fatal ----------------------------------------------------------------------------

TEST(LeftOutCheck, WhatIsWrongInTheTextOrTheMainFilesOwnTablesStaysFatal) {
  const std::array<std::string, 9> texts = {
      good + good,
      good + "no_such_key = 1\n",
      good + "network = 7\n",
      good + "network = \"open\"\n",
      good + "read = [\"/proc\"]\n",
      good + "read = [\"relative\"]\n",
      "[daemon]\nadmins = [\"nobody-here\"]\n" + good,
      "[daemon]\nuser = \"nobody-here\"\n" + good,
      "[socket]\ngroup = \"none-such\"\n" + good,
  };
  for (const std::string& text : texts) EXPECT_THAT(check(text).errors, Not(IsEmpty())) << text;
}

}  // namespace
}  // namespace cellblock
