#include "policy/config_check/config_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "policy/sandbox/weakenings.h"
#include "tests/unit/checked_config.h"

namespace cellblock {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// --- the whole -----------------------------------------------------------------------------------

constexpr const char* full_example = R"(
[daemon]
id_range = { first = 300000, count = 1000 }
[socket]
group = "agents"
[server.files]
command = ["/usr/bin/node", "/opt/mcp/x.js", "/data"]
read    = ["/opt/mcp"]
write   = ["/srv/project:/data"]
env     = { NODE_ENV = "production" }
env_from_file = { API_TOKEN = "/etc/cellblock/secrets/files.token" }
network = "none"
profile = "node"
limits  = { memory = "512MiB", pids = 64, open_files = 1024, cpu = 1, require = false }
start   = { handshake_timeout = "10s" }
stop    = { end_of_input = "1s", terminate = "500ms" }
lines   = { to_host = "16MiB" }
allow   = { users = ["alice", 1002], groups = ["agents"], tools = ["read_*", "list"] }
client_features = ["roots"]
max_cells_per_user = 2
)";

TEST(ConfigCheck, AGoodConfigurationBecomesItsValues) {
  const Checked checked = check(full_example);
  ASSERT_THAT(checked.all, IsEmpty()) << lines_of(checked.all);
  const Config& config = checked.config;
  EXPECT_EQ(config.identity, (Identity{990, 991, 300'000, 1000}));
  EXPECT_EQ(config.listen.socket, "/run/cellblock/cellblock.sock");
  EXPECT_EQ(config.listen.group, 2000U);
  ASSERT_EQ(config.servers.size(), 1U);
  const Server& files = config.servers.front();
  EXPECT_THAT(files.binds, ElementsAre(Bind{"/srv/project", "/data", Access::write},
                                       Bind{"/opt/mcp", "/opt/mcp", Access::read}));
  EXPECT_EQ(files.limits.memory_bytes, 512ULL << 20);
  EXPECT_EQ(files.limits.cpu, 1.0);
  EXPECT_EQ(files.limits.pids, 64U);
  EXPECT_EQ(files.limits.enforcement, Enforcement::best_effort);
  EXPECT_EQ(files.timeouts.terminate, std::chrono::milliseconds(500));
  EXPECT_EQ(files.lines.to_host, 16ULL << 20);
  ASSERT_EQ(files.rules.size(), 1U);
  EXPECT_THAT(files.rules[0].uids, ElementsAre(1001U, 1002U));
  EXPECT_THAT(files.rules[0].gids, ElementsAre(2000U));
  EXPECT_THAT(files.rules[0].tools,
              ElementsAre(NamePattern{"read_", true}, NamePattern{"list", false}));
  EXPECT_TRUE(files.client_features.roots);
  EXPECT_FALSE(files.client_features.sampling);
  EXPECT_EQ(files.syscalls.base, SyscallProfile::node);
}

TEST(ConfigCheck, AllComplaintsComeAtOnceEachWithItsPlace) {
  const Checked checked = check(
      "[server.a]\ncommand = [\"node\"]\nnetwork = \"lan\"\n[server.b]\ncommand = []\n"
      "limits = { pids = 0 }\n");
  const auto errors = checked.errors();
  ASSERT_EQ(errors.size(), 4U) << lines_of(errors);
  EXPECT_EQ(errors[0].key, "server.a.command");
  EXPECT_EQ(errors[0].line, 2U);
  EXPECT_EQ(errors[0].column, 12U);
  EXPECT_EQ(errors[1].key, "server.a.network");
  EXPECT_EQ(errors[2].key, "server.b.command");
  EXPECT_EQ(errors[3].key, "server.b.limits.pids");
  for (const Complaint& error : errors) EXPECT_THAT(error.text, HasSubstr("allowed:"));
}

TEST(ConfigCheck, AServerDeclaredInTwoFilesIsRefusedAndBothAreNamed) {
  const Checked checked =
      check_files({{"main.toml", server("")}, {"servers.d/s.toml", server("")}}, example_facts());
  ASSERT_EQ(checked.errors().size(), 1U);
  EXPECT_EQ(checked.errors()[0].file, "servers.d/s.toml");
  EXPECT_THAT(checked.errors()[0].text, HasSubstr("main.toml:1"));
}

TEST(ConfigCheck, ServersAreSortedByNameWhateverTheirOrder) {
  const Checked checked =
      check(std::string("[server.b]\n") + command_line + "[server.a]\n" + command_line);
  ASSERT_EQ(checked.config.servers.size(), 2U);
  EXPECT_EQ(checked.config.servers[0].name, "a");
}

// --- each rule: a row that fails it, a row that passes -------------------------------------------

struct Row {
  const char* line;
  const char* key;  ///< of the only error; empty: it passes
  const char* says;
};

TEST(ConfigCheck, HoldsEveryRuleOfAServer) {
  const std::array rows = {
      Row{"read = [\"/opt/mcp\"]", "", ""},
      Row{"read = [\"/opt/mcp:/mcp\"]", "", ""},
      Row{"read = [\"/srv:/data/srv\"]", "", ""},
      Row{"read = [\"opt/mcp\"]", "server.s.read", "not absolute"},
      Row{"read = [\"/opt/../srv\"]", "server.s.read", "\"..\""},
      Row{"read = [\"/opt//mcp\"]", "server.s.read", "empty part"},
      Row{"read = [\"/srv:/a:/b\"]", "server.s.read", "more than one"},
      Row{"read = [\"/srv:data\"]", "server.s.read", "not absolute"},
      Row{"read = [\"/missing\"]", "server.s.read", "does not exist"},
      Row{"read = [\"/srv/socket\"]", "server.s.read", "a device, a socket"},
      Row{"read = [\"/proc/1:/data\"]", "server.s.read", "/proc"},
      Row{"read = [\"/sys:/data\"]", "server.s.read", "/sys"},
      Row{"read = [\"/dev/sda:/data\"]", "server.s.read", "/dev"},
      Row{"read = [\"/run/docker.sock:/data\"]", "server.s.read", "/run"},
      Row{"read = [\"/etc:/data\"]", "server.s.read", "name the part"},
      Row{"read = [\"/:/data\"]", "server.s.read", "whole host"},
      Row{"read = [\"/srv/link:/data\"]", "server.s.read", "leads to /proc/1"},
      Row{"read = [\"/srv/to-state:/data\"]", "server.s.read", "cellblock's state"},
      Row{"write = [\"/var/lib:/data\"]", "server.s.write", "cellblock's state"},
      Row{"write = [\"/var/lib/cellblock/x:/data\"]", "server.s.write", "cellblock's state"},
      Row{"read = [\"/etc/cellblock:/data\"]", "server.s.read", "cellblock's configuration"},
      Row{"read = [\"/etc/cellblock/servers.d:/data\"]", "server.s.read", "configuration"},
      Row{"read = [\"/srv:/\"]", "server.s.read", "cell's own"},
      Row{"read = [\"/srv:/usr/local/x\"]", "server.s.read", "read-only"},
      Row{"read = [\"/srv:/proc\"]", "server.s.read", "cell's own"},
      Row{"read = [\"/srv:/dev/x\"]", "server.s.read", "cell's own"},
      Row{"read = [\"/srv:/etc\"]", "server.s.read", "cell's own"},
      Row{"read = [\"/srv:/tmp\"]", "server.s.read", "cell's own"},
      Row{"read = [\"/srv:/home/mcp\"]", "server.s.read", "home directory"},
      Row{"read = [\"/opt/mcp:/d\"]\nwrite = [\"/srv/project:/d\"]", "server.s.write",
          "already taken"},
      Row{"env = { PATH = \"/opt/bin\", LANG = \"C\" }", "", ""},
      Row{"env = { A = \"${client.user}:${client.uid}\", B = \"$${HOME}$\" }", "", ""},
      Row{"env = { A = \"${client.gid}\" }", "server.s.env.A", "${client.gid}"},
      Row{"env = { A = \"${HOME\" }", "server.s.env.A", "$${"},
      Row{"env = { \"1A\" = \"x\" }", "server.s.env.1A", "no variable name"},
      Row{"env = { \"A-B\" = \"x\" }", "server.s.env.A-B", "no variable name"},
      Row{"env = { A = \"x\\u0000\" }", "server.s.env.A", "NUL"},
      Row{"env = { LD_PRELOAD = \"x\" }", "server.s.env.LD_PRELOAD", "load or run code"},
      Row{"env = { GLIBC_TUNABLES = \"x\" }", "server.s.env.GLIBC_TUNABLES", "loader"},
      Row{"env = { NODE_OPTIONS = \"x\" }", "server.s.env.NODE_OPTIONS", "node options"},
      Row{"env = { BASH_ENV = \"x\" }", "server.s.env.BASH_ENV", "load or run code"},
      Row{"env = { PYTHONSTARTUP = \"x\" }", "server.s.env.PYTHONSTARTUP", "load or run"},
      Row{"env = { HOME = \"/\" }", "server.s.env.HOME", "set by cellblock"},
      Row{"env = { NOTIFY_SOCKET = \"x\" }", "server.s.env.NOTIFY_SOCKET", "systemd"},
      Row{"env = { LISTEN_FDS = \"1\" }", "server.s.env.LISTEN_FDS", "systemd"},
      Row{"env_from_file = { T = \"/etc/cellblock/secrets/t\" }", "", ""},
      Row{"env_from_file = { T = \"secrets/t\" }", "server.s.env_from_file.T", "not absolute"},
      Row{"env_from_file = { T = \"/etc/cellblock/secrets/open\" }", "server.s.env_from_file.T",
          "open to its group"},
      Row{"env = { T = \"x\" }\nenv_from_file = { T = \"/etc/t\" }", "server.s.env_from_file.T",
          "taken already"},
      Row{"network = \"host\"", "", ""},
      Row{"network = \"lan\"", "server.s.network",
          "allowed: \"none\", \"loopback\", \"egress\", \"host\""},
      Row{"profile = \"python\"", "", ""},
      Row{"profile = \"ruby\"", "server.s.profile", "\"native\", \"node\", \"python\", or"},
      Row{"limits = { memory = \"512MiB\" }", "server.s.limits.memory", "memory.max"},
      Row{"limits = { cpu = 0.5 }", "server.s.limits.cpu", "cpu.max"},
      Row{"limits = { memory = \"512MiB\", cpu = 0.5, require = false }", "", ""},
      Row{"limits = { memory = \"1KiB\", require = false }", "server.s.limits.memory", "range"},
      Row{"limits = { memory = \"512M\", require = false }", "server.s.limits.memory", "512MiB"},
      Row{"limits = { cpu = 0, require = false }", "server.s.limits.cpu", "range"},
      Row{"limits = { cpu = nan, require = false }", "server.s.limits.cpu", "range"},
      Row{"limits = { cpu = inf, require = false }", "server.s.limits.cpu", "range"},
      Row{"limits = { pids = 1 }", "", ""},
      Row{"limits = { pids = 0 }", "server.s.limits.pids", "1 to 32768"},
      Row{"limits = { pids = -1 }", "server.s.limits.pids", "1 to 32768"},
      Row{"limits = { pids = 9223372036854775807 }", "server.s.limits.pids", "1 to 32768"},
      Row{"limits = { open_files = 4096 }", "", ""},
      Row{"limits = { open_files = 4097 }", "server.s.limits.open_files", "LimitNOFILE"},
      Row{"limits = { open_files = 4097, require = false }", "", ""},
      Row{"limits = { tmp = \"1MiB\" }", "", ""},
      Row{"limits = { tmp = \"1B\" }", "server.s.limits.tmp", "64KiB"},
      Row{"lines = { to_host = \"1GiB\" }", "server.s.lines.to_host", "256MiB"},
      Row{"start = { handshake_timeout = \"1ms\" }", "server.s.start.handshake_timeout", "100ms"},
      Row{"stop = { terminate = \"0s\" }", "", ""},
      Row{"stop = { terminate = \"6m\" }", "server.s.stop.terminate", "5m"},
      Row{"client_features = [\"roots\", \"sampling\", \"elicitation\"]", "", ""},
      Row{"client_features = [\"shell\"]", "server.s.client_features", "\"roots\""},
      Row{"max_cells_per_user = 0", "server.s.max_cells_per_user", "1 to 1024"},
      Row{"era = \"auto\"", "", ""},
      Row{"era = \"modern\"", "", ""},
      Row{"cells = \"per-session\"", "", ""},
      Row{"cells = \"per-user\"", "", ""},
      Row{"cells = \"per-host\"", "server.s.cells", "\"per-session\", \"per-user\""},
      Row{"cells = \"per-user\"\nclient_features = [\"roots\"]", "server.s.cells",
          "no client_features"},
      Row{"cells = \"per-session\"\nclient_features = [\"roots\"]", "", ""},
      Row{"era = \"2026\"", "server.s.era", "\"auto\", \"legacy\", \"modern\""},
  };
  for (const Row& row : rows) {
    const auto errors = check(server(row.line)).errors();
    if (*row.key == '\0') {
      EXPECT_THAT(errors, IsEmpty()) << row.line << "\n" << lines_of(errors);
      continue;
    }
    ASSERT_EQ(errors.size(), 1U) << row.line << "\n" << lines_of(errors);
    EXPECT_EQ(errors[0].key, row.key) << row.line;
    EXPECT_THAT(errors[0].text, HasSubstr(row.says)) << row.line;
    EXPECT_THAT(errors[0].text, HasSubstr("allowed:")) << row.line;
  }
}

TEST(ConfigCheck, HoldsEveryRuleOfTheDaemonAndItsSocket) {
  const std::string long_socket = "[socket]\npath = \"/" + std::string(107, 'x') + "\"";
  const std::array rows = {
      Row{"[daemon]\nuser = 5000\ngroup = 5000", "", ""},
      Row{"[daemon]\nuser = 5000", "daemon.group", "missing beside a numeric user"},
      Row{"[daemon]\nuser = 0\ngroup = 5000", "daemon.user", "root"},
      Row{"[daemon]\nuser = 5000\ngroup = 0", "daemon.group", "root"},
      Row{"[daemon]\nuser = \"nobody-here\"", "daemon.user", "no user"},
      Row{"[daemon]\nuser = -1\ngroup = 1", "daemon.user", "no id"},
      Row{"[daemon]\ngroup = \"nobody-here\"", "daemon.group", "no group"},
      Row{"[daemon]\nuser = \"alice\"\ndrain = \"0s\"", "", ""},
      Row{"[daemon]\ndrain = \"26s\"", "daemon.drain", "25s"},
      Row{"[daemon]\nid_range = { first = 1000, count = 64 }", "", ""},
      Row{"[daemon]\nid_range = { first = 999 }", "daemon.id_range.first", "1000 to"},
      Row{"[daemon]\nid_range = { count = 1 }", "daemon.id_range.count", "64 to"},
      Row{"[daemon]\nid_range = { first = 2147483000, count = 65536 }", "daemon.id_range", "2^31"},
      Row{"[daemon]\nuser = 1879048199\ngroup = 5", "daemon.id_range", "daemon's own id"},
      Row{"[daemon]\nstate_directory = \"var\"", "daemon.state_directory", "not absolute"},
      Row{"[daemon]\naudit_log = \"/a/../b\"", "daemon.audit_log", "\"..\""},
      Row{"[socket]\npath = \"/run/c.sock\"\nmode = \"0666\"", "", ""},
      Row{"[socket]\npath = \"c.sock\"", "socket.path", "not absolute"},
      Row{long_socket.c_str(), "socket.path", "at most 107"},
      Row{"[socket]\nmode = \"660\"", "socket.mode", "four octal digits"},
      Row{"[socket]\nmode = \"0777\"", "socket.mode", "no mode for a socket"},
      Row{"[socket]\nmode = \"0060\"", "socket.mode", "no mode for a socket"},
      Row{"[socket]\ngroup = \"nobody-here\"", "socket.group", "no group"},
      Row{"[socket]\nmax_connections_per_user = 0", "socket.max_connections_per_user", "1 to"},
      Row{"[socket]\nmax_users = 5000", "socket.max_users", "1 to 4096"},
  };
  for (const Row& row : rows) {
    const auto errors = check(row.line).errors();
    if (*row.key == '\0') {
      EXPECT_THAT(errors, IsEmpty()) << row.line << "\n" << lines_of(errors);
      continue;
    }
    ASSERT_EQ(errors.size(), 1U) << row.line << "\n" << lines_of(errors);
    EXPECT_EQ(errors[0].key, row.key) << row.line;
    EXPECT_THAT(errors[0].text, HasSubstr(row.says)) << row.line;
  }
}

TEST(ConfigCheck, HoldsEveryRuleOfAllow) {
  const std::array rows = {
      Row{"{ users = [\"alice\"], tools = [\"a/b.c-d_E9\"] }", "", ""},
      Row{"{ users = [0], groups = [2000], tools = [\"*\"] }", "", ""},
      Row{"{ users = [-1], tools = [\"*\"] }", "server.s.allow.users", "no id"},
      Row{"{ users = [4294967295], tools = [\"*\"] }", "server.s.allow.users", "no id"},
      Row{"{ users = [1879048192], tools = [\"*\"] }", "server.s.allow.users", "belongs to cells"},
      Row{"{ groups = [1879113727], tools = [\"*\"] }", "server.s.allow.groups",
          "belongs to cells"},
      Row{"{ groups = [1879113728], tools = [\"*\"] }", "", ""},
      Row{"{ users = [1], tools = [\"*_read\"] }", "server.s.allow.tools", "no tool name"},
      Row{"{ users = [1], tools = [\"a**\"] }", "server.s.allow.tools", "no tool name"},
      Row{"{ users = [1], tools = [\"\"] }", "server.s.allow.tools", "no tool name"},
      Row{"{ users = [1], tools = [\"a b\"] }", "server.s.allow.tools", "no tool name"},
  };
  for (const Row& row : rows) {
    const auto errors =
        check(std::string("[server.s]\n") + command_line + "allow = " + row.line + "\n").errors();
    if (*row.key == '\0') {
      EXPECT_THAT(errors, IsEmpty()) << row.line << "\n" << lines_of(errors);
      continue;
    }
    ASSERT_EQ(errors.size(), 1U) << row.line << "\n" << lines_of(errors);
    EXPECT_EQ(errors[0].key, row.key) << row.line;
    EXPECT_THAT(errors[0].text, HasSubstr(row.says)) << row.line;
  }
}

TEST(ConfigCheck, AServerThatNobodyCanUseIsAWarning) {
  for (const char* allow :
       {"", "allow = {}\n", "allow = { tools = [\"*\"] }\n", "allow = { users = [\"alice\"] }\n"}) {
    const Checked checked = check(std::string("[server.s]\n") + command_line + allow);
    EXPECT_THAT(checked.errors(), IsEmpty()) << allow;
    ASSERT_EQ(checked.warnings().size(), 1U) << allow;
    EXPECT_EQ(checked.warnings()[0].key, "server.s.allow") << allow;
  }
}

TEST(ConfigCheck, NamesOutsideTheAlphabetAreRefused) {
  const std::string longest(63, 'a');
  for (const std::string& name : {std::string("a"), std::string("a-9"), longest}) {
    EXPECT_THAT(check("[server." + name + "]\n" + command_line).errors(), IsEmpty()) << name;
  }
  for (const std::string& name :
       {std::string("A"), std::string("9a"), std::string("-a"), std::string("a_b"),
        std::string("\"\""), std::string("\"a.b\""), longest + "a"}) {
    const auto errors = check("[server." + name + "]\n" + command_line).errors();
    ASSERT_EQ(errors.size(), 1U) << name << lines_of(errors);
    EXPECT_THAT(errors[0].text, HasSubstr("[a-z][a-z0-9-]{0,62}")) << name;
  }
}

// --- commands ------------------------------------------------------------------------------------

Checked check_command_with(const CommandFacts& command) {
  HostFacts facts = example_facts();
  facts.commands["s"] = command;
  return check(server(""), facts);
}

TEST(ConfigCheck, ACommandThatOthersCanChangeIsAnError) {
  CommandFacts command;
  command.unsafe = "the directory /srv can be changed by its group";
  const Checked checked = check_command_with(command);
  ASSERT_EQ(checked.errors().size(), 1U);
  EXPECT_THAT(checked.errors()[0].text, HasSubstr("/srv can be changed by its group"));
}

TEST(ConfigCheck, ASetUidCommandIsAnError) {
  CommandFacts command;
  command.set_id = SetId::yes;
  EXPECT_EQ(check_command_with(command).errors().size(), 1U);
}

TEST(ConfigCheck, ACommandThatCannotStartBreaksItsServerAndIsTriedAllTheSame) {
  for (const CommandState state :
       {CommandState::not_visible, CommandState::missing, CommandState::directory,
        CommandState::not_a_file, CommandState::not_executable, CommandState::unreadable}) {
    const Checked checked = check_command_with({.state = state});
    ASSERT_EQ(checked.errors().size(), 1U);
    EXPECT_EQ(checked.errors()[0].severity, Complaint::Severity::broken);
    EXPECT_THAT(checked.errors()[0].text, HasSubstr("will not start"));
    EXPECT_TRUE(checked.config.servers[0].is_usable());
  }
}

TEST(ConfigCheck, AnArgumentThatLeadsNowhereInTheCellIsAWarningThatNamesTheKeys) {
  CommandFacts command;
  command.lost_arguments = {{"/opt/mcp/x.js", LostArgument::Reason::not_visible},
                            {"/opt/mcp/y.js", LostArgument::Reason::missing}};
  const Checked checked = check_command_with(command);
  EXPECT_THAT(checked.errors(), IsEmpty());
  ASSERT_EQ(checked.warnings().size(), 2U);
  for (const Complaint& warning : checked.warnings()) {
    EXPECT_EQ(warning.key, "server.s.command");
    EXPECT_THAT(warning.text, HasSubstr("under program"));
  }
  EXPECT_THAT(lines_of(checked.all), HasSubstr("\"/opt/mcp/x.js\" is on the host"));
  EXPECT_THAT(lines_of(checked.all), HasSubstr("\"/opt/mcp/y.js\" does not exist"));
}

TEST(ConfigCheck, AFetcherByItsNameIsToldWhatItIsAndNotHowToWriteItsPath) {
  const auto errors = check("[server.s]\ncommand = [\"npx\", \"-y\", \"x\"]\n").errors();
  ASSERT_EQ(errors.size(), 1U) << lines_of(errors);
  EXPECT_THAT(errors[0].text, HasSubstr("\"npx\" downloads what it runs"));
}

// --- runtimes ------------------------------------------------------------------------------------

std::string warnings_with_runtime(const std::string& host_path, const std::string& lines,
                                  const std::string& command = "\"/usr/bin/x\"") {
  HostFacts facts = example_facts();
  CommandFacts found;
  found.host_path = host_path;
  facts.commands["s"] = found;
  const std::string head = "[server.s]\ncommand = [" + command + "]\n";
  const Checked checked = check(head + allow_line + lines + "\n", facts);
  EXPECT_THAT(checked.errors(), IsEmpty()) << lines_of(checked.all);
  return lines_of(checked.warnings());
}

TEST(ConfigCheck, ACompilingRuntimeWhereWrittenCodeIsRefusedIsAWarning) {
  for (const char* runtime : {"node", "nodejs", "bun", "deno"}) {
    EXPECT_THAT(warnings_with_runtime(std::string("/usr/bin/") + runtime, ""),
                HasSubstr("profile = \"node\""));
  }
  EXPECT_THAT(warnings_with_runtime("/usr/bin/node", "profile = \"python\""),
              HasSubstr("compiles"));
  EXPECT_EQ(warnings_with_runtime("/usr/bin/node", "profile = \"node\""), "");
  EXPECT_EQ(warnings_with_runtime("/usr/bin/node", "write_exec = \"allowed\""), "");
  EXPECT_EQ(warnings_with_runtime("/usr/bin/node", "", "\"/usr/bin/node\", \"--jitless\""), "");
  EXPECT_EQ(warnings_with_runtime("/usr/bin/python3.11", "profile = \"node\""), "");
}

// --- workspaces ----------------------------------------------------------------------------------

TEST(ConfigCheck, AWorkspacePatternThatAWholeHomeMatchesIsAWarning) {
  const auto warnings = [](const std::string& pattern) {
    const Checked checked = check(server("workspace = { allow = [\"" + pattern + "\"] }"));
    EXPECT_THAT(checked.errors(), IsEmpty()) << lines_of(checked.all);
    return lines_of(checked.warnings());
  };
  for (const char* pattern : {"/home/**", "/home/*", "/home/a*", "/home/alice", "/root"}) {
    EXPECT_THAT(warnings(pattern), HasSubstr("whole home directory")) << pattern;
  }
  for (const char* pattern : {"/home/*/src/**", "/home/alice/src", "/srv/**"}) {
    EXPECT_EQ(warnings(pattern), "") << pattern;
  }
}

// --- profiles ------------------------------------------------------------------------------------

std::string warnings_of_refusing(const std::string& calls) {
  const std::string profile = "[profile.p]\nbase = \"native\"\nrefuse = [" + calls + "]\n";
  const Checked checked = check(profile + server(""));
  EXPECT_THAT(checked.errors(), IsEmpty()) << lines_of(checked.all);
  return lines_of(checked.warnings());
}

TEST(ConfigCheck, AFamilyOfCallsThatIsRefusedInPartIsAWarning) {
  EXPECT_THAT(warnings_of_refusing("\"chmod\", \"fchmodat\""),
              HasSubstr("fchmod, fchmodat2 can do the same"));
  EXPECT_THAT(warnings_of_refusing("\"unlink\""), HasSubstr("unlinkat"));
  EXPECT_THAT(warnings_of_refusing("\"kill\""), HasSubstr("tgkill"));
  EXPECT_EQ(warnings_of_refusing("\"chmod\", \"fchmod\", \"fchmodat\", \"fchmodat2\""), "");
  EXPECT_EQ(warnings_of_refusing("\"inotify_init\""), "");
}

// --- identity ------------------------------------------------------------------------------------

TEST(ConfigCheck, RootWithoutAnAccountIsToldBothRemedies) {
  HostFacts facts = example_facts();
  facts.users.erase("cellblock");
  const auto errors = check("", facts).errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0].text, HasSubstr("useradd --system"));
  EXPECT_THAT(errors[0].text, HasSubstr("numbers"));
}

TEST(ConfigCheck, AnOverlapWithSubordinateIdsIsAWarning) {
  HostFacts facts = example_facts();
  facts.subordinate_ranges = {{"/etc/subuid", "bob", 165'536, 65'536}};
  const std::string shared = "[daemon]\nid_range = { first = 200000 }\n";
  const Checked checked = check(shared + server(""), facts);
  EXPECT_THAT(checked.errors(), IsEmpty());
  ASSERT_EQ(checked.warnings().size(), 1U);
  EXPECT_EQ(checked.warnings()[0].key, "daemon.id_range");
  EXPECT_THAT(weakenings_of(checked.config), Contains(HasSubstr("\"bob\" in /etc/subuid")));
  facts.subordinate_ranges[0].first = 100'000;
  const Checked apart = check(shared + server(""), facts);
  EXPECT_THAT(apart.warnings(), IsEmpty());
  EXPECT_THAT(weakenings_of(apart.config), Not(Contains(HasSubstr("id_range"))));
}

// useradd: SUB_UID_MIN to SUB_UID_MAX of login.defs. systemd: containers, dynamic and foreign
// users.
TEST(ConfigCheck, TheIdsOfCellsAreOfTheUserNamespaceOfTheDaemon) {
  HostFacts facts = example_facts();
  facts.mapped_ranges = {{0, 65'536}};
  const auto errors = check("", facts).errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].key, "daemon.id_range");
  EXPECT_THAT(errors[0].text, HasSubstr("which has 0 to 65535"));
  EXPECT_THAT(errors[0].text, HasSubstr("{ first = 32768, count = 16384 }"));
  for (const auto& [range, is_mapped] :
       std::vector<std::pair<std::string, bool>>{{"first = 32768, count = 16384", true},
                                                 {"first = 65472, count = 64", true},
                                                 {"first = 65473, count = 64", false}}) {
    const Checked checked = check("[daemon]\nid_range = { " + range + " }\n", facts);
    EXPECT_EQ(checked.errors().empty(), is_mapped) << range;
  }
}

TEST(ConfigCheck, NobodyIsNamedForEverybodyWithoutANumberHere) {
  const std::string text = std::string("[daemon]\nid_range = { first = 30000, count = 64 }\n") +
                           "[server.s]\n" + command_line +
                           "allow = { users = [65534], tools = [\"*\"] }\n";
  HostFacts facts = example_facts();
  EXPECT_THAT(check(text, facts).errors(), IsEmpty());
  facts.mapped_ranges = {{0, 65'536}};
  const auto errors = check(text, facts).errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].key, "server.s.allow.users");
}

TEST(ConfigCheck, TheIdsOfCellsAreNoneThatTheSystemHandsOutByItself) {
  HostFacts facts = example_facts();
  facts.subordinate_ranges = {{"useradd", "all", 100'000, 600'000'001},
                              {"systemd", "containers", 524'288, 1'878'523'904},
                              {"systemd", "users of homes and directories", 1000, 64'536},
                              {"systemd", "foreign", 2'147'352'576, 65'536}};
  EXPECT_THAT(check(server(""), facts).warnings(), IsEmpty());
}

HostFacts rootless_facts() {
  HostFacts facts = example_facts();
  facts.uid = facts.gid = 1001;
  facts.runtime_directory = "/run/user/1001";
  facts.state_home = "/home/alice/.local/state";
  return facts;
}

TEST(ConfigCheck, RootlessEverythingIsTheUsersOwn) {
  const Checked checked = check(server(""), rootless_facts(), RunMode::user);
  ASSERT_THAT(checked.all, IsEmpty()) << lines_of(checked.all);
  EXPECT_EQ(checked.config.identity, (Identity{1001, 1001, 1001, 1}));
  EXPECT_EQ(checked.config.listen.socket, "/run/user/1001/cellblock/cellblock.sock");
  EXPECT_EQ(checked.config.listen.mode, 0600U);
  EXPECT_EQ(checked.config.state_directory, "/home/alice/.local/state/cellblock");
  const auto moved = check("[daemon]\nstate_directory = \"/x\"", rootless_facts(), RunMode::user);
  EXPECT_EQ(moved.config.audit_log, "/x/audit.jsonl");
}

TEST(ConfigCheck, RootlessRefusesIdsAndNeedsAPlaceForItsSocket) {
  HostFacts facts = rootless_facts();
  EXPECT_EQ(check("[daemon]\nuser = 5\ngroup = 5", facts, RunMode::user).errors().size(), 2U);
  EXPECT_EQ(check("[daemon]\nid_range = { first = 5000 }", facts, RunMode::user).errors().size(),
            1U);
  facts.runtime_directory.clear();
  EXPECT_EQ(check("", facts, RunMode::user).errors().size(), 1U);
}

TEST(ConfigCheck, APlaceholderOfTheClientIsRefusedWhereNothingFillsItIn) {
  for (const char* line :
       {"read = [\"/srv/${client.user}\"]", "write = [\"/srv/${client.uid}\"]",
        "workspace = { allow = [\"/home/${client.user}/**\"] }",
        "env_from_file = { A = \"/etc/${client.user}\" }",
        "network = \"egress\"\negress = { allow = [\"${client.user}.example.org:443\"] }"}) {
    EXPECT_THAT(lines_of(check(server(line)).errors()), HasSubstr("is filled in under env only"))
        << line;
  }
  EXPECT_THAT(check(server("env = { A = \"${client.user}\" }")).errors(), IsEmpty());
}

TEST(ConfigCheck, ATokenWhoseUserNoServerAllowsIsAWarningAndAnOpenSocketAWeakening) {
  HostFacts facts = example_facts();
  facts.users["bob"] = {1003, 1003};
  facts.tokens["/t/ci"] = {{1}, ""};
  const auto warnings_for = [&](const std::string& user) {
    return lines_of(
        check("[listen.http]\naddress = \"127.0.0.1\"\nport = 8765\n[[listen.http.token]]\n"
              "name = \"ci\"\nfile = \"/t/ci\"\nuser = \"" +
                  user + "\"\n" + server(""),
              facts)
            .warnings());
  };
  EXPECT_THAT(warnings_for("bob"),
              HasSubstr("no server allows the user of token \"ci\" (uid 1003)"));
  EXPECT_THAT(warnings_for("alice"), Not(HasSubstr("no server allows")));
  const Config open = check("[listen.http]\nsocket = \"/run/h.sock\"\nmode = \"0666\"\n").config;
  EXPECT_THAT(weakenings_of(open), Contains(HasSubstr("listen.http.mode = \"0666\"")));
}

TEST(ConfigCheck, AdministratorsAreUsersAndTheMembersOfGroups) {
  HostFacts facts = example_facts();
  facts.members[2000] = {.users = {{1005, 1005}, {1001, 1001}, {0, 0}}, .unknown = {}};
  const auto admins = [&](const std::string& list) {
    return check_files({{"c.toml", "[daemon]\nadmins = " + list + "\n"}}, facts);
  };
  const Checked good = admins(R"(["%agents", "alice"])");
  EXPECT_THAT(good.errors(), IsEmpty()) << lines_of(good.errors());
  EXPECT_THAT(good.config.admins, ElementsAre(1001, 1005)) << "each once, and root is one anyway";
  EXPECT_THAT(lines_of(admins(R"(["%nobody-here"])").errors()),
              HasSubstr("there is no group \"nobody-here\" here"));
  facts.members.clear();
  facts.members[2000] = {};
  EXPECT_THAT(lines_of(admins(R"(["%agents"])").warnings()),
              HasSubstr("nobody is in the group \"agents\""));
}

}  // namespace
}  // namespace cellblock
