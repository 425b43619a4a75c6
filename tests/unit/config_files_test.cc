#include "supervisor/loader/load/config_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "supervisor/loader/identity/accounts.h"
#include "supervisor/loader/load/command_file.h"
#include "supervisor/loader/report/check_report.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Loaded = std::expected<LoadedConfig, std::vector<Complaint>>;

// Rootless, so that the test may own the files whoever runs it.
Loaded load(const std::string& path) { return load_config({path, RunMode::user, "/tmp/x/c.sock"}); }

std::string report(const Loaded& loaded) { return check_report("c.toml", loaded); }

constexpr const char* one_server =
    "[server.a]\ncommand = [\"/bin/true\"]\nallow = { users = [0], tools = [\"x\"] }\n";

TEST(ConfigFiles, ReadsTheMainFileAndTheServerFilesBesideIt) {
  const ScratchDirectory scratch;
  const std::string main = scratch.write("c.toml", one_server, 0644);
  scratch.make_directory("servers.d", 0755);
  const std::string b =
      scratch.write("servers.d/b.toml", "[server.b]\ncommand=[\"/bin/true\"]\n", 0644);
  scratch.write("servers.d/.hidden.toml", "broken", 0644);
  scratch.write("servers.d/notes.txt", "broken", 0644);
  const Loaded loaded = load(main);
  ASSERT_TRUE(loaded.has_value()) << report(loaded);
  EXPECT_THAT(loaded->files, ElementsAre(main, b));
  ASSERT_EQ(loaded->config.servers.size(), 2U);
  EXPECT_EQ(loaded->config.listen.socket, "/tmp/x/c.sock");
}

TEST(ConfigFiles, TheReportNamesWhereHttpIsServedItsTokensAndEachDeclaredEra) {
  LoadedConfig loaded;
  HttpListen& http = loaded.config.http.emplace();
  http.address = "127.0.0.1";
  http.port = 8377;
  http.socket = "/run/h.sock";
  http.tokens = {{.uid = 1000, .name = "laptop"}};
  Server server;
  server.name = "a";
  server.command = {"/bin/true"};
  server.era = ServerEra::modern;
  loaded.config.servers = {server};
  EXPECT_THAT(report(loaded),
              HasSubstr("  HTTP: 127.0.0.1:8377 and /run/h.sock, token laptop (uid 1000)\n"));
  EXPECT_THAT(report(loaded), HasSubstr("era modern"));
}

TEST(ConfigFiles, ReadsSecretsInTheOrderOfServersAndVariables) {
  const ScratchDirectory scratch;
  const std::string one = scratch.write("one", "1\n", 0600);
  const std::string two = scratch.write("two", "2\n", 0600);
  const std::string main = scratch.write(
      "c.toml",
      "[server.b]\ncommand=[\"/bin/true\"]\nenv_from_file = { X = \"" + two + "\", Y = \"" + one +
          "\" }\n[server.a]\ncommand=[\"/bin/true\"]\nenv_from_file = { Z = \"" + one + "\" }\n",
      0600);
  const Loaded loaded = load(main);
  ASSERT_TRUE(loaded.has_value()) << report(loaded);
  const auto& servers = loaded->config.servers;
  ASSERT_EQ(loaded->secrets.servers.size(), 2U);
  EXPECT_THAT(loaded->secrets.servers[0].values, ElementsAre("1"));
  ASSERT_EQ(servers[1].secrets.size(), 2U);
  EXPECT_EQ(servers[1].secrets[0].name, "X");
  EXPECT_THAT(loaded->secrets.servers[1].values, ElementsAre("2", "1"));
  EXPECT_THAT(report(loaded), Not(HasSubstr("2\n1")));
}

TEST(ConfigFiles, SecretsOfTheUserThatTheDaemonWillBeAreAcceptedFromRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a file away";
  const ScratchDirectory scratch;
  const auto loaded_with_secret_of = [&](uid_t owner) {
    const std::string secret = scratch.write("secret", "1\n", 0600);
    EXPECT_EQ(::chown(secret.c_str(), owner, 0), 0);
    const std::string main = scratch.write(
        "c.toml",
        "daemon = { user = 4321, group = 4321 }\n[server.a]\ncommand=[\"/bin/true\"]\n"
        "env_from_file = { X = \"" +
            secret + "\" }\n",
        0644);
    return report(load_config({main, RunMode::system, "/tmp/x/c.sock"}));
  };
  EXPECT_THAT(loaded_with_secret_of(4321), Not(HasSubstr("env_from_file")));
  EXPECT_THAT(loaded_with_secret_of(4322), HasSubstr("is owned by uid 4322"));
}

TEST(ConfigFiles, WarnsRootOfAFileThatTheDaemonsUserCannotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: others fail at that file";
  const ScratchDirectory scratch;
  const auto report_with = [&](mode_t mode, gid_t group) {
    const std::string main = scratch.write(
        "c.toml", std::string("daemon = { user = 4321, group = 4321 }\n") + one_server, mode);
    EXPECT_EQ(::chown(main.c_str(), 0, group), 0);
    return report(load_config({main, RunMode::system, "/tmp/x/c.sock"}));
  };
  EXPECT_THAT(report_with(0600, 0),
              HasSubstr("warning: cannot be read by uid 4321, as whom the service's unit starts "
                        "cellblockd: it would not start (mode 0600); allowed: chmod 0644"));
  EXPECT_THAT(report_with(0640, 0), HasSubstr("cannot be read by uid 4321"));
  EXPECT_THAT(report_with(0640, 4321), Not(HasSubstr("cannot be read")));
  EXPECT_THAT(report_with(0644, 0), Not(HasSubstr("cannot be read")));
}

TEST(ConfigFiles, RefusesAFileOrDirectoryThatOthersCanChange) {
  struct Row {
    mode_t file, directory;
    const char* why;
  };
  const std::array rows = {
      Row{0664, 0755, "a file its group can write"},
      Row{0646, 0755, "a file others can write"},
      Row{0644, 0775, "a directory its group can write"},
      Row{0644, 0757, "a directory others can write"},
  };
  for (const Row& row : rows) {
    const ScratchDirectory scratch;
    scratch.make_directory("etc", 0755);
    const std::string main = scratch.write("etc/c.toml", one_server, row.file);
    ASSERT_EQ(::chmod((scratch.path() + "/etc").c_str(), row.directory), 0);
    const Loaded loaded = load(main);
    ASSERT_FALSE(loaded.has_value()) << row.why;
    EXPECT_THAT(loaded.error().front().text, HasSubstr("can be changed")) << row.why;
  }
}

TEST(ConfigFiles, RefusesALooseDirectoryFarAboveTheFile) {
  const ScratchDirectory scratch;
  scratch.make_directory("a", 0755);
  scratch.make_directory("a/b", 0755);
  const std::string main = scratch.write("a/b/c.toml", one_server, 0644);
  ASSERT_TRUE(load(main).has_value());
  ASSERT_EQ(::chmod((scratch.path() + "/a").c_str(), 0777), 0);
  EXPECT_FALSE(load(main).has_value());
}

TEST(ConfigFiles, FollowsALinkButJudgesWhereItLeads) {
  const ScratchDirectory scratch;
  scratch.make_directory("loose", 0755);
  const std::string real = scratch.write("loose/real.toml", one_server, 0644);
  const std::string link = scratch.path() + "/c.toml";
  ASSERT_EQ(::symlink("loose/real.toml", link.c_str()), 0);
  EXPECT_TRUE(load(link).has_value());
  ASSERT_EQ(::chmod((scratch.path() + "/loose").c_str(), 0777), 0);
  EXPECT_FALSE(load(link).has_value());
}

TEST(ConfigFiles, ALoopOfLinksEnds) {
  const ScratchDirectory scratch;
  const std::string link = scratch.path() + "/c.toml";
  ASSERT_EQ(::symlink("c.toml", link.c_str()), 0);
  ASSERT_FALSE(load(link).has_value());
  EXPECT_THAT(load(link).error().front().text, HasSubstr("too many symbolic links"));
}

TEST(ConfigFiles, RefusesAServersDirectoryThatOthersCanAddTo) {
  const ScratchDirectory scratch;
  const std::string main = scratch.write("c.toml", one_server, 0644);
  scratch.make_directory("servers.d", 01777);
  EXPECT_FALSE(load(main).has_value());
}

TEST(ConfigFiles, RefusesWhatIsMissingTooLargeOrNoFile) {
  const ScratchDirectory scratch;
  EXPECT_FALSE(load(scratch.path() + "/missing.toml").has_value());
  EXPECT_FALSE(load(scratch.path()).has_value());
  const std::string big = scratch.write("big.toml", std::string((1U << 20) + 1, '#'), 0644);
  EXPECT_THAT(load(big).error().front().text, HasSubstr("too large"));
}

TEST(ConfigFiles, ComplaintsOfAllFilesComeAtOnce) {
  const ScratchDirectory scratch;
  const std::string main = scratch.write("c.toml", "[server.a]\n", 0644);
  scratch.make_directory("servers.d", 0755);
  scratch.write("servers.d/b.toml", "[server.b]\n", 0644);
  scratch.write("servers.d/c.toml", "[server.", 0644);
  const Loaded loaded = load(main);
  ASSERT_FALSE(loaded.has_value());
  const std::string text = report(loaded);
  EXPECT_THAT(text, HasSubstr("c.toml: not usable, 3 errors\n"));
  EXPECT_THAT(text, HasSubstr(main + ":1:9: error: server.a.command: "));
  EXPECT_THAT(text, HasSubstr("servers.d/b.toml:1:9: error: server.b.command: "));
  EXPECT_THAT(text, HasSubstr("servers.d/c.toml:1:"));
}

TEST(ConfigFiles, TheReportShowsEachServerWithItsWeakenings) {
  const ScratchDirectory scratch;
  const std::string main =
      scratch.write("c.toml", std::string(one_server) + "network = \"host\"\n", 0644);
  const std::string text = report(load(main));
  EXPECT_THAT(text, HasSubstr("c.toml: usable, 1 server, 0 warnings\n"));
  EXPECT_THAT(text, HasSubstr("  a: /bin/true, profile native, network host, "));
  EXPECT_THAT(text, HasSubstr("    weakened: network = \"host\"\n"));
}

// --- commands ------------------------------------------------------------------------------------

CommandFacts look(const std::string& path, std::vector<Bind> binds) {
  const std::array<uid_t, 2> owners = {0, ::geteuid()};
  return look_at_command({.path = path, .binds = std::move(binds)}, owners);
}

// Each as REASON PATH, of a command whose first other part is `script`.
std::vector<std::string> lost_of(const std::string& script, const std::vector<std::string>& more,
                                 const std::vector<Bind>& binds) {
  CommandWanted command{
      .path = "/bin/true", .binds = binds, .arguments = {script}, .script = script};
  command.arguments.insert(command.arguments.end(), more.begin(), more.end());
  const std::array<uid_t, 2> owners = {0, ::geteuid()};
  std::vector<std::string> lost;
  for (const auto& argument : look_at_command(command, owners).lost_arguments) {
    const bool is_missing = argument.reason == LostArgument::Reason::missing;
    lost.push_back((is_missing ? "missing " : "hidden ") + argument.path);
  }
  return lost;
}

TEST(CommandFile, SaysWhichArgumentsLeadNowhereInTheCell) {
  const ScratchDirectory scratch;
  const std::string script = scratch.write("x.js", "", 0644);
  const std::vector<Bind> read = {{scratch.path(), "/data", Access::read}};
  const std::vector<Bind> write = {{scratch.path(), "/data", Access::write}};
  EXPECT_THAT(lost_of("/data/x.js", {"/data/later", "/usr/bin"}, read), IsEmpty());
  EXPECT_THAT(lost_of("/data/y.js", {}, read), ElementsAre("missing /data/y.js"));
  EXPECT_THAT(lost_of("/data/y.js", {}, write), IsEmpty());
  EXPECT_THAT(lost_of("/no/such.js", {}, {}), ElementsAre("missing /no/such.js"));
  EXPECT_THAT(lost_of("/usr/bin", {"/var/lib"}, {}), ElementsAre("hidden /var/lib"));
}

// A link of an image is looked up in the image: what it names on the host is neither here nor
// there.
TEST(CommandFile, LooksForAScriptOfAnImageInTheImage) {
  const ScratchDirectory scratch;
  scratch.write("bin", "", 0755);
  std::filesystem::create_symlink("/there.js", scratch.path() + "/link.js");
  std::filesystem::create_symlink("/usr", scratch.path() + "/out.js");
  scratch.write("there.js", "", 0644);
  const std::array<uid_t, 2> owners = {0, ::geteuid()};
  const auto lost = [&](const std::string& script) {
    return look_at_command({.path = "/bin",
                            .binds = {},
                            .image = scratch.path(),
                            .arguments = {script},
                            .script = script},
                           owners)
        .lost_arguments.size();
  };
  EXPECT_EQ(lost("/there.js"), 0U);
  EXPECT_EQ(lost("/link.js"), 0U);
  EXPECT_EQ(lost("/none.js"), 1U);
  EXPECT_EQ(lost("/out.js"), 1U) << "the image has no /usr";
}

TEST(CommandFile, SaysWhichVariablesNameWhatTheCellDoesNotSee) {
  CommandWanted command{.path = "/bin/true"};
  command.variables = {
      {"STATE", "/no/such"}, {"TEMP", "/tmp"}, {"TOOLS", "/usr"}, {"LIBRARIES", "/var/lib"}};
  const std::array<uid_t, 2> owners = {0, ::geteuid()};
  const auto hidden = look_at_command(command, owners).hidden_variables;
  ASSERT_EQ(hidden.size(), 1U);
  EXPECT_EQ(hidden[0].name, "LIBRARIES");
  command.binds = {{"/var/lib", "/var/lib", Access::read}};
  EXPECT_THAT(look_at_command(command, owners).hidden_variables, IsEmpty());
}

TEST(CommandFile, HasAVariableThatTheCellDoesNotSeeWarnedOfByItsName) {
  const ScratchDirectory scratch;
  const std::string main = scratch.write(
      "c.toml", std::string(one_server) + "env = { LIBRARIES = \"/var/lib\", MODE = \"/x\" }\n",
      0644);
  const std::string text = report(load(main));
  EXPECT_THAT(text, HasSubstr("1 warning"));
  EXPECT_THAT(text,
              HasSubstr("server.a.env.LIBRARIES: \"/var/lib\" is on the host, but not visible"));
}

TEST(CommandFile, LeavesArgumentsAloneThatTheCellHasOfItsOwn) {
  EXPECT_THAT(lost_of("/home/mcp/x", {"/tmp", "/workspace", "/proc/1", "/etc/passwd"}, {}),
              IsEmpty());
}

TEST(CommandFile, IsLookedUpThroughTheBindsOfTheCell) {
  const ScratchDirectory scratch;
  const std::string program = scratch.write("tool", "#!/bin/sh\n", 0755);
  scratch.write("text", "", 0644);
  const std::vector<Bind> binds = {{scratch.path(), "/data", Access::read}};
  const CommandFacts found = look("/data/tool", binds);
  EXPECT_EQ(found.state, CommandState::usable);
  EXPECT_EQ(found.host_path, program);
  EXPECT_THAT(found.unsafe, IsEmpty());
  EXPECT_EQ(look("/data/text", binds).state, CommandState::not_executable);
  EXPECT_EQ(look("/data/none", binds).state, CommandState::missing);
  EXPECT_EQ(look("/data", binds).state, CommandState::directory);
  EXPECT_EQ(look(program, binds).state, CommandState::not_visible);
}

TEST(CommandFile, AnAbsoluteLinkLeadsToAPlaceInTheCellNotOnTheHost) {
  const ScratchDirectory scratch;
  const std::string program = scratch.write("tool", "#!/bin/sh\n", 0755);
  const std::vector<Bind> binds = {{scratch.path(), "/data", Access::read}};
  ASSERT_EQ(::symlink("/data/tool", (scratch.path() + "/inside").c_str()), 0);
  ASSERT_EQ(::symlink(program.c_str(), (scratch.path() + "/outside").c_str()), 0);
  EXPECT_EQ(look("/data/inside", binds).host_path, program);
  EXPECT_EQ(look("/data/outside", binds).state, CommandState::not_visible);
}

TEST(CommandFile, SaysWhoElseCouldChangeIt) {
  const ScratchDirectory scratch;
  scratch.write("tool", "", 0777);
  scratch.write("setuid", "", 04755);
  const std::vector<Bind> binds = {{scratch.path(), "/data", Access::read}};
  EXPECT_THAT(look("/data/tool", binds).unsafe, HasSubstr("can be changed"));
  EXPECT_EQ(look("/data/setuid", binds).set_id, SetId::yes);
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0770), 0);
  EXPECT_THAT(look("/data/setuid", binds).unsafe, HasSubstr(scratch.path()));
}

// --- accounts ------------------------------------------------------------------------------------

TEST(Accounts, FindsRootAndNotNobodyKnows) {
  ASSERT_TRUE(find_user("root").has_value());
  EXPECT_EQ(find_user("root")->uid, 0U);
  EXPECT_EQ(find_group("root"), 0U);
  EXPECT_FALSE(find_user("no-such-user-here").has_value());
  EXPECT_FALSE(find_group("no-such-group-here").has_value());
}

TEST(Accounts, AUserIsAMemberOfHisPrimaryGroupThoughItsListDoesNotSaySo) {
  EXPECT_EQ(find_user(uid_t{0})->gid, 0U);
  EXPECT_THAT(members_of(0).users, testing::Contains(ClientId{0, 0}));
  constexpr gid_t nobodys_group = 4'000'000'000;
  EXPECT_THAT(members_of(nobodys_group).users, IsEmpty());
}

TEST(Accounts, ReadsSubordinateRangesAndSkipsMalformedLines) {
  const auto ranges = parse_subordinate_ranges(
      "/etc/subuid", "alice:100000:65536\n\nbad\nb:x:1\nc:1\nd:1:2:3\n1000:200000:10");
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].owner, "alice");
  EXPECT_EQ(ranges[1].first, 200'000U);
  EXPECT_EQ(ranges[1].count, 10U);
}

}  // namespace
}  // namespace cellblock
