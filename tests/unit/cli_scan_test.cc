#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client/cli/scan/configured_servers.h"
#include "client/cli/scan/listening_servers.h"
#include "client/cli/scan/running_servers.h"
#include "client/cli/scan/scan_as_user.h"
#include "client/cli/scan/scan_text.h"

namespace cellblock::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string some_user(unsigned uid) { return "user" + std::to_string(uid); }

// --- hosts' files --------------------------------------------------------------------------------

constexpr const char* cursor_file = R"({"mcpServers": {
  "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/a"]},
  "safe": {"command": "cellblock", "args": ["connect", "safe"]},
  "remote": {"url": "https://user:pw@api.example.com/mcp?token=abc"}}})";

TEST(ScanOfHostFiles, FindsEveryServerThatDoesNotStartCellblock) {
  const auto found = configured_in(cursor_file, "Cursor", "/home/a/.cursor/mcp.json", "a");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].name, "files");
  EXPECT_EQ(found[0].where, "/home/a/.cursor/mcp.json mcpServers.files");
  EXPECT_EQ(found[0].command, "npx -y @modelcontextprotocol/server-filesystem /home/a");
  EXPECT_THAT(found[0].remedy, HasSubstr("cellblock import"));
  EXPECT_EQ(found[1].name, "remote");
}

TEST(ScanOfHostFiles, TellsOfAnAddressOnlyWhereItLeads) {
  const auto found = configured_in(cursor_file, "Cursor", "/f", "a");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[1].command, "https://api.example.com");
}

TEST(ScanOfHostFiles, ReadsTomlToo) {
  const auto found = configured_in(
      "[mcp_servers.git]\ncommand = \"uvx\"\nargs = [\"mcp-server-git\"]\n", "Codex", "/f", "a");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].command, "uvx mcp-server-git");
}

TEST(ScanOfHostFiles, FindsNothingInWhatIsNoConfiguration) {
  EXPECT_THAT(configured_in("not a configuration", "Cursor", "/f", "a"), IsEmpty());
  EXPECT_THAT(configured_in("", "Cursor", "/f", "a"), IsEmpty());
}

TEST(ScanOfHostFiles, LooksIntoTheProjectsThatClaudeCodeNames) {
  EXPECT_THAT(projects_in(R"({"projects": {"/home/a/web": {}, "relative": {}}})"),
              ElementsAre("/home/a/web"));
}

class HomeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "scan-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    home_ = name;
    std::filesystem::create_directories(home_ / ".cursor");
    std::filesystem::create_directories(home_ / "web");
  }
  void TearDown() override { std::filesystem::remove_all(home_); }

  std::vector<ScanFinding> scan() const {
    const ScannedUser user{.name = "a", .uid = ::geteuid(), .home = home_.string()};
    return configured_servers(user, "/");
  }

  std::filesystem::path home_;
};

TEST_F(HomeTest, IsSearchedWithTheProjectsThatItsHostsName) {
  std::ofstream(home_ / ".cursor/mcp.json") << cursor_file;
  std::ofstream(home_ / ".claude.json")
      << R"({"projects": {")" + (home_ / "web").string() + R"(": {}}})";
  std::ofstream(home_ / "web/.mcp.json") << R"({"mcpServers": {"w": {"command": "web-mcp"}}})";
  const auto found = scan();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found.back().name, "w");
  EXPECT_EQ(found.back().host, "Claude Code");
}

TEST_F(HomeTest, IsSearchedByAChildAsByItsUser) {
  std::ofstream(home_ / ".cursor/mcp.json") << cursor_file;
  const ScannedUser user{
      .name = "a", .uid = ::geteuid(), .gid = ::getegid(), .home = home_.string()};
  EXPECT_EQ(configured_as(user, "/").value(), scan());
  EXPECT_THAT(scan(), SizeIs(2));
}

TEST_F(HomeTest, IsNotSearchedWhereTheChildCannotBecomeItsUser) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can become anybody";
  std::ofstream(home_ / ".cursor/mcp.json") << cursor_file;
  const ScannedUser other{.name = "b", .uid = ::geteuid() + 1, .gid = 1, .home = home_.string()};
  EXPECT_FALSE(configured_as(other, "/"));
}

TEST_F(HomeTest, IsNotReadWithRootsRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  std::ofstream(home_ / ".cursor/mcp.json") << cursor_file;
  const ScannedUser nobody{.name = "nobody", .uid = 65534, .gid = 65534, .home = home_.string()};
  EXPECT_THAT(configured_as(nobody, "/").value(), IsEmpty()) << "the directory is root's alone";
}

TEST_F(HomeTest, IsGivenUpAndToldOfWhereTheChildNeverEnds) {
  const ScannedUser user{
      .name = "a", .uid = ::geteuid(), .gid = ::getegid(), .home = home_.string()};
  const ScanOfUser endless = [] {
    while (true) ::pause();
    return std::vector<ScanFinding>{};
  };
  const auto found = found_as(user, endless, std::chrono::milliseconds(20));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text, HasSubstr("given up"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "the child has ended, and is forgotten";
}

TEST_F(HomeTest, OfAChildThatDiesIsToldOf) {
  const ScannedUser user{
      .name = "a", .uid = ::geteuid(), .gid = ::getegid(), .home = home_.string()};
  const ScanOfUser dying = []() -> std::vector<ScanFinding> { ::_exit(0); };
  EXPECT_FALSE(found_as(user, dying, std::chrono::minutes(1)));
}

TEST_F(HomeTest, IsNotLeftByALink) {
  std::ofstream(home_ / "elsewhere") << cursor_file;
  std::filesystem::create_symlink(home_ / "elsewhere", home_ / ".cursor/mcp.json");
  EXPECT_THAT(scan(), IsEmpty());
}

TEST_F(HomeTest, HoldsNoScanUpByAPipe) {
  ASSERT_EQ(::mkfifo((home_ / ".cursor/mcp.json").c_str(), 0600), 0);
  EXPECT_THAT(scan(), IsEmpty());
}

// --- what is shown -------------------------------------------------------------------------------

TEST(ShownCommand, LeavesOutWhatLooksLikeASecret) {
  EXPECT_EQ(shown_command({"server", "--api-key", "abcdef", "--mode", "fast"}),
            "server --api-key [hidden] --mode fast");
  EXPECT_EQ(shown_command({"server", "--token=abcdef"}), "server --token=[hidden]");
  EXPECT_EQ(shown_command({"env", "API_KEY=abcdef", "server"}), "env API_KEY=[hidden] server");
  EXPECT_EQ(shown_command({"mcp-remote", "https://u:p@h.example/s/KEY/mcp?api_key=x", "--header",
                           "Authorization: Basic dXNlcjpwYXNzd29yZA=="}),
            "mcp-remote https://h.example --header Authorization:[hidden]");
  EXPECT_EQ(shown_command({"echo", "a!!", "{x,y}"}), "echo 'a!!' '{x,y}'");
  EXPECT_THAT(shown_command({"server", "ghp_0123456789abcdefghijABCDEFGHIJ012345"}),
              Not(HasSubstr("ghp_")));
}

// --- processes -----------------------------------------------------------------------------------

TEST(PackageShown, IsReadFromTheCommandLine) {
  struct Case {
    std::vector<std::string> command;
    const char* package;
  };
  for (const Case& one :
       {Case{{"npx", "-y", "@modelcontextprotocol/server-memory"},
             "@modelcontextprotocol/server-memory"},
        Case{{"npm exec @playwright/mcp@latest"}, "@playwright/mcp"},
        Case{{"node", "/home/a/.npm/_npx/1/node_modules/.bin/mcp-server-everything"},
             "mcp-server-everything"},
        Case{{"node", "/x/node_modules/@scope/name/dist/index.js"}, "@scope/name"},
        Case{{"uvx", "mcp-server-git"}, "mcp-server-git"},
        Case{{"/usr/bin/python3.11", "-m", "mcp_server_time"}, "mcp_server_time"},
        Case{{"/usr/bin/python3", "/home/a/.local/bin/mcp-server-fetch"}, "mcp-server-fetch"},
        Case{{"docker", "run", "-i", "--rm", "mcp/git"}, "mcp/git"},
        Case{{"/usr/local/bin/github-mcp-server", "stdio"}, "github-mcp-server"},
        Case{{"bash"}, ""}, Case{{}, ""}}) {
    EXPECT_EQ(package_shown(one.command), one.package);
  }
}

const std::vector<SeenProcess> a_host_with_a_server = {
    {.pid = 1, .parent = 0, .uid = 0, .name = "init", .command = {"/sbin/init"}},
    {.pid = 10, .parent = 1, .uid = 1000, .name = "claude", .command = {"claude"}},
    {.pid = 11,
     .parent = 10,
     .uid = 1000,
     .name = "npm exec",
     .command = {"npm exec @playwright/mcp"}},
    {.pid = 12,
     .parent = 11,
     .uid = 1000,
     .name = "sh",
     .command = {"sh", "-c", "mcp-server-playwright"}},
    {.pid = 13,
     .parent = 12,
     .uid = 1000,
     .name = "node",
     .command = {"node", "/h/.npm/_npx/1/node_modules/@playwright/mcp/cli.js", "--headless"}}};

TEST(ScanOfProcesses, CountsAServerAndItsRunnersOnceAndNamesItsHost) {
  const auto found = running_servers(a_host_with_a_server, some_user);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].name, "@playwright/mcp");
  EXPECT_EQ(found[0].where, "process 13");
  EXPECT_EQ(found[0].host, "claude");
  EXPECT_EQ(found[0].user, "user1000");
  EXPECT_EQ(found[0].remedy, "cellblock add NAME -- npx -y @playwright/mcp --headless");
}

TEST(ScanOfProcesses, LeavesOutWhatRunsInACell) {
  std::vector<SeenProcess> processes = a_host_with_a_server;
  processes[1].name = "cellblock-launc";
  EXPECT_THAT(running_servers(processes, some_user), IsEmpty());
}

TEST(ScanOfProcesses, EndsWhereParentsFormARing) {
  std::vector<SeenProcess> processes = a_host_with_a_server;
  processes[1].parent = 13;
  EXPECT_THAT(running_servers(processes, some_user), SizeIs(testing::Le(1)));
}

TEST(ScanOfProcesses, SeesThisOne) {
  const auto all = seen_processes();
  const auto self = std::ranges::find(all, ::getpid(), &SeenProcess::pid);
  ASSERT_NE(self, all.end());
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_EQ(self->uid, ::geteuid());
  EXPECT_FALSE(self->command.empty());
}

// --- ports ---------------------------------------------------------------------------------------

TEST(ScanOfPorts, ReadsTheKernelsTable) {
  constexpr const char* table =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
      "   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 1\n"
      "   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 0 2\n"
      "   2: 0100007F:0BB9 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000 0 3\n"
      "   3: 0A00020F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 0 4\n";
  EXPECT_THAT(listeners_in(table, false),
              ElementsAre(Listener{.port = 3000, .uid = 1000},
                          Listener{.port = 8080, .uid = 0, .is_loopback = false}));
}

TEST(ScanOfPorts, TakesOnlyAnAnswerToInitializeForAnMcpServers) {
  EXPECT_TRUE(is_mcp_answer(
      "HTTP/1.1 200 OK\r\n\r\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"
      "{\"protocolVersion\":\"2025-11-25\",\"serverInfo\":{\"name\":\"x\"}}}\n"));
  EXPECT_FALSE(is_mcp_answer("HTTP/1.1 404 Not Found\r\n\r\n"));
  EXPECT_FALSE(is_mcp_answer("SSH-2.0-OpenSSH"));
}

// --- as text, and compared -----------------------------------------------------------------------

const ScanFinding finding{.kind = ScanFinding::Kind::running,
                          .user = "a",
                          .host = "claude",
                          .name = "@playwright/mcp",
                          .where = "process 13",
                          .command = "node cli.js",
                          .remedy = "cellblock add NAME -- npx -y @playwright/mcp"};

TEST(ScanText, SaysWhatTheyReachAndHowToBringThemIn) {
  const std::string text = scan_text({finding, finding}, Style::none(), 0);
  EXPECT_THAT(text, HasSubstr("2 MCP servers are outside cells"));
  EXPECT_THAT(text, HasSubstr("reads and writes what its user can"));
  EXPECT_EQ(text.find("cellblock add"), text.rfind("cellblock add")) << "each line once";
  EXPECT_EQ(scan_text({}, Style::none(), 0), "No MCP server was found outside cells.\n");
}

TEST(ScanText, LetsNoNameMoveTheCursor) {
  ScanFinding hostile = finding;
  hostile.name = "a\x1b[2J";
  EXPECT_THAT(scan_text({hostile}, Style::none(), 0), Not(HasSubstr("\x1b[2J")));
}

TEST(ScanJson, IsReadBackAsItWas) {
  const auto read = read_scan(scan_json({finding}));
  ASSERT_TRUE(read);
  EXPECT_THAT(*read, ElementsAre(finding));
  EXPECT_FALSE(read_scan("{}"));
  EXPECT_FALSE(read_scan("nothing"));
}

TEST(ScanDifference, TakesARestartedProcessForTheSame) {
  ScanFinding again = finding;
  again.where = "process 99";
  const auto difference = difference_of({finding}, {again});
  EXPECT_THAT(difference.fresh, IsEmpty());
  EXPECT_THAT(difference.gone, IsEmpty());
}

TEST(ScanDifference, TellsWhatIsNewAndWhatIsGone) {
  ScanFinding other = finding;
  other.name = "other-mcp";
  const auto difference = difference_of({finding}, {other});
  EXPECT_THAT(difference.fresh, ElementsAre(other));
  EXPECT_THAT(difference.gone, ElementsAre(finding));
  EXPECT_THAT(difference_text(difference, Style::none(), 0), HasSubstr("Gone:"));
}

}  // namespace
}  // namespace cellblock::cli
