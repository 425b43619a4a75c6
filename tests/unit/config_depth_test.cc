#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "policy/config/names.h"
#include "policy/config_check/config_check.h"
#include "policy/sandbox/user_namespace_ids.h"
#include "policy/sandbox/weakenings.h"

// The keys that say how a cell is built: identity, files, network, calls, limits, executable.
namespace cellblock {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* digest = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

HostFacts full_facts() {
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 4096;
  facts.landlock_abi = 7;
  facts.cgroup = {"/sys/fs/cgroup/cellblock", true, true, true, true, ""};
  facts.users = {{"cellblock", {990, 991}}, {"alice", {1001, 1001}},
                 {"build", {1500, 1501}},   {"root", {0, 0}},
                 {"www-data", {33, 33}},    {"cell", {1'879'048'197, 1700}}};
  facts.groups = {{"agents", 2000}, {"empty", 2001}};
  facts.primary_groups = {{1002, 1002}, {1600, 1600}};
  facts.members[2000] = {{{1001, 1001}, {1003, 100}}, {"gone"}};
  facts.sources["/opt/mcp"] = {PathKind::directory, "/opt/mcp"};
  facts.sources["/opt/file"] = {PathKind::file, "/opt/file"};
  facts.sources["/opt/open"] = {PathKind::directory, "/opt/open"};
  facts.programs["/opt/mcp"] = {PathKind::directory, ""};
  facts.programs["/usr/lib/mcp"] = {PathKind::directory, ""};
  facts.programs["/opt/file"] = {PathKind::file, ""};
  facts.programs["/opt/open"] = {PathKind::directory, "/opt/open/x is owned by uid 1000"};
  CommandFacts command;
  command.host_path = "/usr/bin/node";
  command.sha256 = digest;
  command.stamp = FileStamp{1, 2, 3, 4, 5};
  facts.commands["s"] = command;
  return facts;
}

struct Checked {
  Config config;
  std::vector<Complaint> all;

  /// What is more than a warning, whether it stops all or leaves something out.
  std::vector<Complaint> errors() const {
    std::vector<Complaint> some;
    std::ranges::copy_if(all, std::back_inserter(some), [](const Complaint& complaint) {
      return complaint.severity != Complaint::Severity::warning;
    });
    return some;
  }
};

std::string lines_of(const std::vector<Complaint>& complaints) {
  std::string lines;
  for (const Complaint& complaint : complaints) lines += to_line(complaint) + "\n";
  return lines;
}

Checked check(const std::string& text, const HostFacts& facts = full_facts(),
              RunMode mode = RunMode::system) {
  Complaints complaints;
  const std::vector<ConfigText> files = {
      parse_config_text(text, "c.toml", FileRole::main, complaints)};
  Checked checked;
  checked.config = check_config({mode, {}, files}, facts, complaints);
  checked.all = complaints.take_sorted();
  return checked;
}

std::string server(const std::string& lines) {
  return "[server.s]\ncommand = [\"/usr/bin/node\", \"/opt/mcp/x.js\"]\n"
         "allow = { users = [\"alice\"], tools = [\"read\"] }\n" +
         lines + "\n";
}

Server good_server(const std::string& lines) {
  const Checked checked = check(server(lines));
  EXPECT_THAT(checked.errors(), IsEmpty()) << lines << "\n" << lines_of(checked.all);
  return checked.config.servers.empty() ? Server{} : checked.config.servers.front();
}

// --- what a good line becomes --------------------------------------------------------------------

TEST(ConfigDepth, WithoutAWordACellHasTheTightestOfEach) {
  const Server tight = good_server("");
  EXPECT_EQ(tight.network, NetworkMode::none);
  EXPECT_EQ(tight.run_as, RunAs{});
  EXPECT_EQ(tight.home, HomeKind::persistent);
  EXPECT_FALSE(tight.workspace.has_value());
  EXPECT_FALSE(tight.execute_writable);
  EXPECT_FALSE(tight.command_stamp.has_value());
  EXPECT_EQ(tight.syscalls, (SyscallRules{.name = "native", .write_exec = WriteExec::refused}));
  EXPECT_THAT(weakenings_of(tight, full_facts().cgroup), IsEmpty());
}

TEST(ConfigDepth, UnixSocketsAreAWeakeningWhereTheCellSeesSomethingOfTheHost) {
  const auto is_weak = [](const std::string& lines) {
    const auto all = weakenings_of(good_server(lines), full_facts().cgroup);
    return std::ranges::any_of(
        all, [](const std::string& weakening) { return weakening.contains("has Unix sockets"); });
  };
  const std::string workspace = "workspace = { allow = [\"/srv/*\"] }\n";
  EXPECT_FALSE(is_weak("profile = \"browser\"\n"));
  EXPECT_TRUE(is_weak("profile = \"browser\"\n" + workspace));
  EXPECT_FALSE(is_weak("profile = \"node\"\n" + workspace));
}

TEST(ConfigDepth, EgressKeepsItsRulesOnceEach) {
  const Server open = good_server(
      "network = \"egress\"\n"
      "egress = { allow = [\"API.example.org\", \"api.example.org:443\", \"*.example.net:80\"], "
      "max_connections = 3, max_bytes = \"1GiB\", proxy = 3128 }");
  EXPECT_THAT(open.egress.allow, SizeIs(2));
  EXPECT_EQ(open.egress.max_connections, 3U);
  EXPECT_EQ(open.egress.max_bytes, 1ULL << 30);
  EXPECT_EQ(open.egress.proxy_port, 3128);
}

TEST(ConfigDepth, SecretsOfEveryKindKeepTheirOrder) {
  const Server secret = good_server(
      "env_from_file = { A = \"/s/a\" }\nsecret_files = { B = \"/s/b\" }\n"
      "secret_memfds = { C = \"/s/c\" }");
  EXPECT_THAT(secret.secrets, ElementsAre(SecretVariable{"A", "/s/a", SecretDelivery::environment},
                                          SecretVariable{"B", "/s/b", SecretDelivery::file},
                                          SecretVariable{"C", "/s/c", SecretDelivery::memfd}));
}

TEST(ConfigDepth, LimitsThatTheHostCanHoldAreKept) {
  const Limits limits = good_server(
                            "home = \"temporary\"\n"
                            "limits = { memory = \"512MiB\", swap = \"1MiB\", cpu = 0.5, "
                            "io_read = \"10MiB\", io_write = \"5MiB\", home = \"1MiB\", "
                            "file = \"2MiB\" }")
                            .limits;
  EXPECT_EQ(limits.swap_bytes, 1ULL << 20);
  EXPECT_EQ(limits.io_read, 10ULL << 20);
  EXPECT_EQ(limits.io_write, 5ULL << 20);
  EXPECT_EQ(limits.home_bytes, 1ULL << 20);
  EXPECT_EQ(limits.file_bytes, 2ULL << 20);
}

TEST(ConfigDepth, TheProgramsDirectoryIsSeenInItsPlaceUnlessItIsAlready) {
  EXPECT_THAT(good_server("program = \"/opt/mcp\"").binds,
              ElementsAre(Bind{"/opt/mcp", "/opt/mcp", Access::read}));
  EXPECT_THAT(good_server("program = \"/opt/mcp\"\nread = [\"/opt/mcp\"]").binds, SizeIs(1));
  EXPECT_THAT(good_server("program = \"/usr/lib/mcp\"").binds, IsEmpty());
}

TEST(ConfigDepth, TheRightDigestKeepsTheStampOfTheFileThatHadIt) {
  const std::string line = std::string("sha256 = \"") + digest + "\"";
  EXPECT_EQ(good_server(line).command_stamp, (FileStamp{1, 2, 3, 4, 5}));
}

TEST(ConfigDepth, WithoutADigestToCompareNoFileWillDo) {
  HostFacts facts = full_facts();
  facts.commands.clear();
  const Checked checked = check(server(std::string("sha256 = \"") + digest + "\""), facts);
  EXPECT_THAT(checked.all, SizeIs(1));
  EXPECT_FALSE(checked.config.servers[0].is_usable());
  EXPECT_EQ(checked.config.servers[0].command_stamp, FileStamp{});
}

// --- rules ---------------------------------------------------------------------------------------

struct Row {
  const char* line;
  const char* key;  ///< of the only error; empty: it passes
  const char* says;
};

void hold(const std::vector<Row>& rows, const HostFacts& facts = full_facts()) {
  for (const Row& row : rows) {
    const auto errors = check(server(row.line), facts).errors();
    if (*row.key == '\0') {
      EXPECT_THAT(errors, IsEmpty()) << row.line << "\n" << lines_of(errors);
      continue;
    }
    ASSERT_EQ(errors.size(), 1U) << row.line << "\n" << lines_of(errors);
    EXPECT_EQ(errors[0].key, row.key) << row.line;
    EXPECT_GT(errors[0].line, 0U) << row.line;
    EXPECT_THAT(errors[0].text, AllOf(HasSubstr(row.says), HasSubstr("allowed:"))) << row.line;
  }
}

TEST(ConfigDepth, HoldsEveryRuleOfNetworks) {
  hold({
      {"network = \"loopback\"", "", ""},
      {"network = \"egress\"", "server.s.egress.allow", "names nothing"},
      {"network = \"egress\"\negress = { allow = [] }", "server.s.egress.allow", "names nothing"},
      {"egress = { allow = [\"a.org\"] }", "server.s.egress", "no effect without"},
      {"network = \"host\"\nprofile = \"browser\"", "server.s.profile", "has Unix sockets"},
      {"network = \"loopback\"\nprofile = \"browser\"", "", ""},
      {"network = \"host\"\negress = { allow = [\"a.org\"] }", "server.s.egress", "no effect"},
      {"network = \"egress\"\negress = { allow = [\"*\"] }", "server.s.egress.allow", "every name"},
      {"network = \"egress\"\negress = { allow = [\"a.org:53\"] }", "server.s.egress.allow",
       "resolver"},
      {"network = \"egress\"\negress = { allow = [\"localhost:5432\"] }", "server.s.egress.allow",
       "127.0.0.1/32:5432"},
      {"network = \"egress\"\negress = { allow = [\"*.localhost\"] }", "server.s.egress.allow",
       "the cell itself"},
      {"network = \"egress\"\negress = { allow = [\"127.0.0.1/32:5432\"] }", "", ""},
      {"network = \"egress\"\negress = { allow = [\"198.18.5.0/24\"] }", "server.s.egress.allow",
       "names inside cells"},
      {"network = \"egress\"\negress = { allow = [\"[fd53:6362::]/64\"] }", "server.s.egress.allow",
       "names inside cells"},
      {"network = \"egress\"\negress = { allow = [\"198.16.0.0/12\"] }", "", ""},
      {"network = \"egress\"\negress = { allow = [\"[fe80::1]\"] }", "server.s.egress.allow",
       "interface's name"},
      {"network = \"egress\"\negress = { allow = [\"[fe80::]/10\"] }", "server.s.egress.allow",
       "interface's name"},
      {"network = \"egress\"\negress = { allow = [\"0.0.0.0/32\"] }", "server.s.egress.allow",
       "no address of anybody"},
      {"network = \"egress\"\negress = { allow = [\"0.0.0.0/8\"] }", "server.s.egress.allow",
       "no address of anybody"},
      {"network = \"egress\"\negress = { allow = [\"[::]/128\"] }", "server.s.egress.allow",
       "no address of anybody"},
      {"network = \"egress\"\negress = { allow = [\"[::1]\"] }", "", ""},
      {"network = \"egress\"\negress = { allow = [\"[fd00::]/8\"] }", "", ""},
      {"network = \"egress\"\negress = { allow = [\"0.0.0.0/0\"] }", "", ""},
      {"network = \"egress\"\negress = { allow = [\"a.org\"], proxy = 443 }",
       "server.s.egress.proxy", "taken"},
      {"network = \"egress\"\negress = { allow = [\"a.org\"], proxy = 0 }", "server.s.egress.proxy",
       "1 to 65535"},
      {"network = \"egress\"\negress = { allow = [\"a.org\"], max_connections = 0 }",
       "server.s.egress.max_connections", "1 to 1024"},
      {"network = \"egress\"\negress = { allow = [\"a.org\"], max_connections = 793 }", "", ""},
      {"network = \"egress\"\negress = { allow = [\"a.org\"], max_connections = 794 }",
       "server.s.egress.max_connections", "LimitNOFILE"},
      {"network = \"egress\"\negress = { allow = [\"a.org\"], max_bytes = \"1B\" }",
       "server.s.egress.max_bytes", "1KiB"},
  });
}

TEST(ConfigDepth, AnAllowListHasBounds) {
  std::string ports = "network = \"egress\"\negress = { allow = [";
  for (int port = 1000; port < 1041; ++port) ports += "\"a.org:" + std::to_string(port) + "\", ";
  const auto errors = check(server(ports + "] }")).errors();
  ASSERT_EQ(errors.size(), 1U) << lines_of(errors);
  EXPECT_THAT(errors[0].text, HasSubstr("41 different ports; allowed: at most 40"));
  std::string names = "network = \"egress\"\negress = { allow = [";
  for (int name = 0; name < 257; ++name) names += "\"a" + std::to_string(name) + ".org\", ";
  EXPECT_THAT(check(server(names + "] }")).errors(), SizeIs(1));
}

TEST(ConfigDepth, HoldsEveryRuleOfIdentitiesAndFiles) {
  hold({
      {"run_as = \"own\"", "", ""},
      {"run_as = \"client\"", "", ""},
      {"run_as = \"build\"", "", ""},
      {"run_as = 1600", "", ""},
      {"run_as = \"nobody-here\"", "server.s.run_as", "no user"},
      {"run_as = 1700", "server.s.run_as", "no user"},
      {"run_as = -1", "server.s.run_as", "no user"},
      {"run_as = \"root\"", "server.s.run_as", "root's id"},
      {"run_as = \"www-data\"", "server.s.run_as", "system's id 33"},
      {"run_as = \"cell\"", "server.s.run_as", "daemon.id_range"},
      {"home = \"temporary\"", "", ""},
      {"home = \"shared\"", "server.s.home", "\"persistent\", \"temporary\""},
      {"limits = { home = \"1MiB\" }", "server.s.limits.home", "persistent home"},
      {"execute_writable = true", "", ""},
      {"execute_writable = 1", "server.s.execute_writable", "true or false"},
      {"workspace = { allow = [\"/home/*/src/**\"], mode = \"rw\" }", "", ""},
      {"workspace = { allow = [\"/home/*/src/**\"], mode = \"rw\" }\ncells = \"per-user\"",
       "server.s.cells", "no workspace"},
      {"workspace = { mode = \"rw\" }", "server.s.workspace.allow", "0 patterns"},
      {"workspace = { allow = [\"/srv/x\"], mode = \"w\" }", "server.s.workspace.mode",
       "\"ro\", \"rw\""},
      {"workspace = { allow = [\"/**\"] }", "server.s.workspace.allow", "could be anywhere"},
      {"workspace = { allow = [\"/var/*\"] }", "server.s.workspace.allow", "name the part"},
      {"workspace = { allow = [\"/etc/**\"] }", "server.s.workspace.allow", "name the part"},
      {"workspace = { allow = [\"/run/x\"] }", "server.s.workspace.allow", "/run"},
      {"workspace = { allow = [\"/var/lib/**\"] }", "server.s.workspace.allow", "state"},
      {"workspace = { allow = [\"/var/lib/*/home\"] }", "server.s.workspace.allow", "state"},
      {"workspace = { allow = [\"/var/lib/c*\"] }", "server.s.workspace.allow", "state"},
      {"workspace = { allow = [\"/var/lib/other/**\"] }", "", ""},
      {"workspace = { allow = [\"src\"] }", "server.s.workspace.allow", "not absolute"},
      {"workspace = { allow = [\"/srv/x\"] }\nread = [\"/opt/mcp:/workspace/x\"]",
       "server.s.workspace", "takes /workspace"},
      {"read = [\"/opt/mcp:/workspace\"]", "", ""},
      {"read = [\"/opt/mcp:/run/secrets/x\"]", "server.s.read", "secrets"},
      {"program = \"/opt/none\"", "server.s.program", "does not exist"},
      {"program = \"/opt/file\"", "server.s.program", "is no directory"},
      {"program = \"/opt/open\"", "server.s.program", "owned by uid 1000"},
      {"program = \"/opt/open\"", "server.s.program", "chown -R root: /opt/open"},
      {"program = \"opt\"", "server.s.program", "not absolute"},
      {"program = \"/opt/mcp:/data\"", "server.s.program", "has a colon"},
      {"sha256 = \"abc\"", "server.s.sha256", "64 hexadecimal"},
      {"sha256 = \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"",
       "server.s.sha256", "has the SHA-256 aaaa"},
  });
}

TEST(ConfigDepth, AWorkspaceThatCannotBeFoundIsAWarningAndOneThatCannotBeUsedLeavesItsServerOut) {
  HostFacts facts = full_facts();
  facts.sources["/srv/none"] = {};
  facts.sources["/srv/file"] = {PathKind::file, "/srv/file"};
  facts.sources["/srv/link"] = {PathKind::directory, "/data/real"};
  facts.sources["/srv/real"] = {PathKind::directory, "/srv/real"};
  const auto said = [&](const std::string& pattern, bool is_usable) {
    const Checked checked = check(server("workspace = { allow = [\"" + pattern + "\"] }"), facts);
    EXPECT_EQ(checked.config.servers[0].is_usable(), is_usable) << lines_of(checked.all);
    return lines_of(checked.all);
  };
  EXPECT_THAT(said("/srv/none/*", true), HasSubstr("/srv/none does not exist"));
  EXPECT_THAT(said("/srv/file", false), HasSubstr("/srv/file is no directory"));
  EXPECT_THAT(said("/srv/link/**", false), HasSubstr("the real path, /data/real"));
  EXPECT_EQ(said("/srv/real/**", true), said("/srv/not-asked/**", true));
}

TEST(ConfigDepth, HoldsEveryRuleOfSecrets) {
  hold({
      {"env_from_file = { T = \"/s/t\" }\nsecret_files = { T = \"/s/t\" }",
       "server.s.secret_files.T", "T is taken"},
      {"env = { T_FILE = \"x\" }\nsecret_files = { T = \"/s/t\" }", "server.s.secret_files.T",
       "T_FILE is taken"},
      {"env = { T_FD = \"x\" }\nsecret_memfds = { T = \"/s/t\" }", "server.s.secret_memfds.T",
       "T_FD is taken"},
      {"secret_files = { \"../x\" = \"/s/t\" }", "server.s.secret_files.../x", "no variable name"},
      {"secret_files = { LD_PRELOAD = \"/s/t\" }", "server.s.secret_files.LD_PRELOAD", "load or"},
      {"secret_memfds = { A=\"/s\", B=\"/s\", C=\"/s\", D=\"/s\", E=\"/s\", F=\"/s\", G=\"/s\", "
       "H=\"/s\", I=\"/s\" }",
       "server.s.secret_memfds.", "9 secrets; allowed: at most 8"},
      {"secret_files = { T = \"t\" }", "server.s.secret_files.T", "not absolute"},
  });
}

TEST(ConfigDepth, ALimitWithoutItsControllerNamesTheReason) {
  HostFacts facts = full_facts();
  facts.cgroup = {
      "/sys/fs/cgroup/x", false, true, false, false, "memory is a version 1 controller"};
  hold(
      {
          {"limits = { memory = \"512MiB\" }", "server.s.limits.memory", "version 1 controller"},
          {"limits = { cpu = 1 }", "server.s.limits.cpu", "version 1 controller"},
          {"limits = { io_read = \"1MiB\" }", "server.s.limits.io_read", "io.max"},
          {"limits = { io_write = \"1MiB\" }", "server.s.limits.io_write", "io.max"},
          {"limits = { memory = \"512MiB\", require = false }", "", ""},
          {"limits = { swap = \"1MiB\" }", "server.s.limits.swap", "without limits.memory"},
          {"limits = { pids = 5 }", "", ""},
      },
      facts);
}

// --- profiles ------------------------------------------------------------------------------------

TEST(ConfigDepth, WrittenCodeIsRefusedToRunUnlessTheProfileNeedsIt) {
  EXPECT_EQ(good_server("profile = \"native\"").syscalls.write_exec, WriteExec::refused);
  EXPECT_EQ(good_server("profile = \"python\"").syscalls.write_exec, WriteExec::refused);
  EXPECT_EQ(good_server("profile = \"node\"").syscalls.write_exec, WriteExec::allowed);
  EXPECT_EQ(good_server("profile = \"node\"\nwrite_exec = \"refused\"").syscalls.write_exec,
            WriteExec::refused);
}

TEST(ConfigDepth, AProfileOfTheAdminsIsABaseWithChanges) {
  const Checked checked =
      check("[profile.mine]\nbase = \"python\"\nallow = [\"ptrace\"]\nrefuse = [\"chmod\"]\n" +
            server("profile = \"mine\""));
  ASSERT_THAT(checked.errors(), IsEmpty()) << lines_of(checked.all);
  EXPECT_EQ(
      checked.config.servers[0].syscalls,
      (SyscallRules{SyscallProfile::python, "mine", {"ptrace"}, {"chmod"}, WriteExec::refused}));
  EXPECT_THAT(weakenings_of(checked.config.servers[0], {}),
              ElementsAre(HasSubstr("(allows ptrace;")));
}

TEST(ConfigDepth, HoldsEveryRuleOfProfiles) {
  const std::array rows = {
      Row{"[profile.mine]\nbase = \"node\"", "", ""},
      Row{"[profile.mine]\nallow = []", "profile.mine.base", "is missing"},
      Row{"[profile.mine]\nbase = \"ruby\"", "profile.mine.base", "\"native\""},
      Row{"[profile.node]\nbase = \"node\"", "profile.node", "that cellblock has"},
      Row{"[profile.Mine]\nbase = \"node\"", "profile.Mine", "no profile's name"},
      Row{"[profile.mine]\nbase = \"node\"\nallow = [\"mount\"]", "profile.mine.allow", "cannot"},
      Row{"[profile.mine]\nbase = \"node\"\nallow = [\"bpf\"]", "profile.mine.allow", "cannot"},
      Row{"[profile.mine]\nbase = \"node\"\nallow = [\"clone3\"]", "profile.mine.allow", "cannot"},
      Row{"[profile.mine]\nbase = \"node\"\nallow = [\"socket\"]", "profile.mine.allow", "cannot"},
      Row{"[profile.mine]\nbase = \"node\"\nallow = [\"io_uring_setup\"]", "profile.mine.allow",
          "cannot"},
      Row{"[profile.mine]\nbase = \"node\"\nallow = [\"opne\"]", "profile.mine.allow", "known"},
      Row{"[profile.mine]\nbase = \"node\"\nrefuse = [\"execve\"]", "profile.mine.refuse",
          "cannot"},
      Row{"[profile.mine]\nbase = \"node\"\nwrite_exec = \"maybe\"", "profile.mine.write_exec",
          "\"refused\""},
      Row{"[profile.mine]\nbase = \"node\"\nallow = [\"ptrace\"]\nrefuse = [\"ptrace\"]",
          "profile.mine.refuse", "under allow"},
  };
  for (const Row& row : rows) {
    const auto errors = check(std::string(row.line) + "\n").errors();
    ASSERT_EQ(errors.size(), *row.key == '\0' ? 0U : 1U) << row.line << "\n" << lines_of(errors);
    if (errors.empty()) continue;
    EXPECT_EQ(errors[0].key, row.key) << row.line;
    EXPECT_THAT(errors[0].text, AllOf(HasSubstr(row.says), HasSubstr("allowed:"))) << row.line;
  }
}

TEST(ConfigDepth, ProfilesStandInTheMainFileOnly) {
  Complaints complaints;
  parse_config_text("[profile.x]\nbase = \"node\"\n[sandbox]\nmin_landlock = 0\n", "servers.d/x",
                    FileRole::servers_only, complaints);
  EXPECT_EQ(complaints.error_count(), 2U);
}

// --- who can be run as ---------------------------------------------------------------------------

TEST(ConfigDepth, ClientsAreWhomAllowNamesAndWhomItsGroupsHold) {
  const Checked checked = check(
      "[server.s]\ncommand = [\"/usr/bin/node\"]\nrun_as = \"client\"\n"
      "allow = { users = [\"alice\", 1002, 1999, 0, \"www-data\"], groups = [\"agents\", "
      "\"empty\"], "
      "tools = [\"a\"] }\n");
  ASSERT_THAT(checked.errors(), IsEmpty()) << lines_of(checked.all);
  EXPECT_THAT(checked.config.clients,
              ElementsAre(ClientId{1001, 1001}, ClientId{1002, 1002}, ClientId{1003, 100}));
  const std::string said = lines_of(checked.all);
  EXPECT_THAT(said, HasSubstr("uid 1999 cannot use this server"));
  EXPECT_THAT(said, HasSubstr("uid 0 cannot use this server"));
  EXPECT_THAT(said, HasSubstr("uid 33 cannot use this server: a system account"));
  EXPECT_THAT(said, HasSubstr("\"gone\" cannot use this server"));
  EXPECT_THAT(said, HasSubstr("no member of group 2001"));
}

TEST(ConfigDepth, NobodyIsMappedForServersWithIdsOfTheirOwn) {
  EXPECT_THAT(check(server("")).config.clients, IsEmpty());
  EXPECT_EQ(mapped_ids(check(server("")).config),
            (MappedIds{{{990, 1}, {1'879'048'192, 65'536}}, {{991, 1}, {1'879'048'192, 65'536}}}));
}

TEST(ConfigDepth, NeighboursShareALineOfTheMapAndRootIsInNone) {
  Config config;
  config.identity = {990, 991, 200'000, 64};
  config.clients = {{0, 0}, {990, 991}, {1001, 100}, {1002, 100}, {1004, 1004}, {200'001, 100}};
  EXPECT_EQ(mapped_ids(config), (MappedIds{{{990, 1}, {200'000, 64}, {1001, 2}, {1004, 1}},
                                           {{991, 1}, {200'000, 64}, {100, 1}, {1004, 1}}}));
}

TEST(ConfigDepth, MoreRangesThanTheKernelMapsAreRefused) {
  HostFacts facts = full_facts();
  GroupMembers& members = facts.members[2000];
  members = {};
  for (std::uint32_t i = 0; i < 339; ++i) members.users.push_back({3000 + 2 * i, 3000 + 2 * i});
  const auto errors = check(
                          "[server.s]\ncommand = [\"/usr/bin/node\"]\nrun_as = \"client\"\n"
                          "allow = { groups = [\"agents\"], tools = [\"a\"] }\n",
                          facts)
                          .errors();
  ASSERT_THAT(errors, SizeIs(1)) << lines_of(errors);
  EXPECT_THAT(errors[0].text, HasSubstr("341 separate ranges"));
}

TEST(ConfigDepth, RootlessTheOnlyClientIsTheUser) {
  HostFacts facts = full_facts();
  facts.uid = facts.gid = 1001;
  facts.runtime_directory = "/run/user/1001";
  facts.state_home = "/home/alice/.local/state";
  EXPECT_THAT(check(server("run_as = \"client\""), facts, RunMode::user).config.clients,
              ElementsAre(ClientId{1001, 1001}));
  EXPECT_THAT(check(server("run_as = \"build\""), facts, RunMode::user).errors(), SizeIs(1));
  const std::string src = "workspace = { allow = [\"/home/*/src/**\"] }";
  EXPECT_THAT(check(server(src), facts, RunMode::user).errors(), IsEmpty());
  const std::string all = "workspace = { allow = [\"/home/*/**\"] }";
  EXPECT_THAT(check(server(all), facts, RunMode::user).errors(), SizeIs(1));
}

// --- kernel, cgroup ------------------------------------------------------------------------------

TEST(ConfigDepth, AKernelBelowMinLandlockIsRefusedWithTheRemedy) {
  HostFacts facts = full_facts();
  facts.landlock_abi = 1;
  const auto errors = check(server(""), facts).errors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].key, "sandbox.min_landlock");
  EXPECT_THAT(errors[0].text, AllOf(HasSubstr("ABI 1"), HasSubstr("min_landlock = 1")));
  const Checked waived = check("[sandbox]\nmin_landlock = 1\n" + server(""), facts);
  EXPECT_THAT(waived.errors(), IsEmpty());
  EXPECT_THAT(weakenings_of(waived.config), Contains(HasSubstr("sandbox.min_landlock = 1")));
  facts.landlock_abi = 0;
  EXPECT_THAT(check(server(""), facts).errors()[0].text, HasSubstr("has no Landlock"));
}

TEST(ConfigDepth, MinLandlockHasARange) {
  const auto errors = check("[sandbox]\nmin_landlock = 101\n").errors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0].text, HasSubstr("0 to 100"));
  EXPECT_EQ(check("[sandbox]\nmin_landlock = 8\n").errors()[0].line, 2U);
}

TEST(ConfigDepth, ACgroupThatIsNamedMustBeThere) {
  HostFacts facts = full_facts();
  EXPECT_THAT(check("[daemon]\ncgroup = \"/sys/fs/cgroup/x\"\n", facts).errors(), IsEmpty());
  EXPECT_THAT(check("[daemon]\ncgroup = \"x\"\n", facts).errors(), SizeIs(1));
  facts.cgroup = {.missing_because = "it does not exist"};
  EXPECT_THAT(check("[daemon]\ncgroup = \"none\"\n", facts).errors(), IsEmpty());
  const auto errors = check("[daemon]\ncgroup = \"/sys/fs/cgroup/x\"\n", facts).errors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0].text, HasSubstr("it does not exist"));
}

TEST(ConfigDepth, WhatAKernelLacksShrinksWithEachAbi) {
  EXPECT_THAT(landlock_lacks(0), SizeIs(8));
  EXPECT_THAT(landlock_lacks(2), SizeIs(6));
  EXPECT_THAT(landlock_lacks(7), ElementsAre(HasSubstr("sockets with a path"), HasSubstr("UDP")));
  EXPECT_THAT(landlock_lacks(10), IsEmpty());
}

// --- weakenings ----------------------------------------------------------------------------------

TEST(ConfigDepth, EveryWeakeningHasTheNameItHasInTheFile) {
  Server weak;
  weak.syscalls.write_exec = WriteExec::refused;
  EXPECT_THAT(weakenings_of(weak, {}), IsEmpty());
  weak.network = NetworkMode::host;
  weak.limits.enforcement = Enforcement::best_effort;
  weak.limits.memory_bytes = 1;
  weak.client_features = {false, true, true};
  weak.rules = {short_form({}, {}, {{"", true}})};
  EXPECT_THAT(
      weakenings_of(weak, {}),
      ElementsAre("network = \"host\"", "limits.require = false (not enforced: memory)",
                  "client_features = [\"sampling\", \"elicitation\"]", "allow.tools = [\"*\"]"));
  const Cgroup memory{.directory = "/x", .memory = true};
  EXPECT_THAT(weakenings_of(weak, memory), Not(Contains(HasSubstr("limits.require"))));
}

TEST(ConfigDepth, ABandwidthThatIsSetForNoDiskIsNotEnforced) {
  const Cgroup cgroup = full_facts().cgroup;
  Server server;
  server.syscalls.write_exec = WriteExec::refused;
  server.limits.enforcement = Enforcement::best_effort;
  server.limits.io_write = 1 << 20;
  constexpr const char* not_enforced = "limits.require = false (not enforced: io_write)";
  EXPECT_THAT(weakenings_of(server, cgroup), ElementsAre(not_enforced));
  server.storage = Storage::disks;
  EXPECT_THAT(weakenings_of(server, cgroup), ElementsAre(not_enforced));
  server.disks = {{8, 0}};
  EXPECT_THAT(weakenings_of(server, cgroup), IsEmpty());
  EXPECT_THAT(weakenings_of(server, {}), ElementsAre(not_enforced));
  server.disks.clear();
  server.storage = Storage::memory;
  EXPECT_THAT(weakenings_of(server, cgroup), IsEmpty());
}

TEST(ConfigDepth, WhatOpensACellIsAWeakeningAndAWorkspaceIsNone) {
  const Server weak = good_server(
      "execute_writable = true\nwrite_exec = \"allowed\"\nrun_as = \"build\"\n"
      "workspace = { allow = [\"/srv/*\"], mode = \"rw\" }\nnetwork = \"egress\"\n"
      "egress = { allow = [\"10.0.0.0/8:5432\", \"a.org\", \"*.org\", \"8.8.8.8:443\", "
      "\"0.0.0.0/0:25\"] }");
  EXPECT_THAT(weakenings_of(weak, full_facts().cgroup),
              ElementsAre("egress.allow = [\"10.0.0.0/8:5432\"] (private)",
                          "egress.allow = [\"*.org:443\"] (a whole top-level domain)",
                          HasSubstr("egress.allow = [\"0.0.0.0/0:25\"] (every IPv4 address: "),
                          HasSubstr("run_as = \"build\""), "write_exec = \"allowed\"",
                          "execute_writable = true"));
}

TEST(ConfigDepth, MissingControllersAreShownForTheInstallation) {
  Config config;
  config.cgroup = {"/x", true, true, true, true, ""};
  EXPECT_THAT(weakenings_of(config), IsEmpty());
  config.cgroup.io = false;
  config.cgroup.missing_because = "io is not delegated";
  EXPECT_THAT(weakenings_of(config),
              ElementsAre("limits.io_read, limits.io_write (cannot be enforced: io is not "
                          "delegated)"));
  config.mode = RunMode::user;
  EXPECT_THAT(weakenings_of(config), SizeIs(2));
}

}  // namespace
}  // namespace cellblock
