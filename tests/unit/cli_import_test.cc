#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/propose/import_file.h"
#include "client/cli/import/propose/propose.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/import/read/secret_guess.h"
#include "policy/config_reader/config_text.h"

namespace cellblock::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

const std::vector<std::string> present = {"/srv/project", "/srv/app", "/opt/tool/bin/tool",
                                          "/opt/cellblock/there"};

MachineView machine() {
  return {.kind_of =
              [](const std::string& path) {
                return std::ranges::find(present, path) == present.end() ? PathKind::absent
                                                                         : PathKind::directory;
              },
          .find_program =
              [](const std::string& name) {
                return name == "node" || name == "python3" ? "/usr/bin/" + name : std::string();
              },
          .installed =
              [](const std::string& prefix, const PackageName& package) {
                return package.name == "@acme/installed"
                           ? std::optional<InstalledPackage>(
                                 {.entry = prefix + "/node_modules/@acme/installed/main.js",
                                  .version = "1.2.3"})
                           : std::nullopt;
              }};
}

const Places places{.programs = "/opt/cellblock", .secrets = "/etc/cellblock/secrets"};

Result<std::vector<Proposal>> proposals_of(std::string_view text, const char* format = "") {
  const auto servers = declared_servers(text, {.format = import_format_named(format),
                                               .bundle = {.directory = "/home/alice/it's mine"}});
  if (!servers) return fail(servers.error().text);
  return propose_all(*servers, machine(), places);
}

std::vector<Proposal> all_of(std::string_view text, const char* format = "") {
  auto proposals = proposals_of(text, format);
  EXPECT_TRUE(proposals.has_value()) << proposals.error().text;
  return proposals.value_or(std::vector<Proposal>{});
}

Proposal one_of(std::string_view text, const char* format = "") {
  const auto proposals = all_of(text, format);
  EXPECT_EQ(proposals.size(), 1U);
  return proposals.empty() ? Proposal{} : proposals.front();
}

std::string mistake_in(std::string_view text, const char* format = "") {
  const auto proposals = proposals_of(text, format);
  return proposals ? "none" : proposals.error().text;
}

/// As the daemon reads it.
ConfigText read_back(const std::vector<Proposal>& proposals) {
  Complaints complaints;
  auto config =
      parse_config_text(cell_toml(proposals), "it.toml", FileRole::servers_only, complaints);
  for (const auto& complaint : complaints.take_sorted()) ADD_FAILURE() << to_line(complaint);
  return config;
}

std::vector<std::string> paths_of(const std::vector<ProposedPath>& paths) {
  std::vector<std::string> list;
  for (const auto& path : paths) list.push_back(path.path);
  return list;
}

constexpr auto claude_desktop = R"json({"mcpServers": {
  "Filesystem (project)": {
    "command": "npx",
    "args": ["-y", "@modelcontextprotocol/server-filesystem@2025.8.21", "/srv/project/", "/srv/gone"]},
  "github": {
    "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"],
    "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "<YOUR_TOKEN>", "LOG_LEVEL": "debug", "PATH": "/Users/a/bin"}},
  "git": {"command": "uvx", "args": ["mcp-server-git==2025.9.25", "--repository", "/srv/project"]},
  "docs": {"type": "http", "url": "https://user:hunter2@example.org/mcp"}}})json";

TEST(Import, PinsAnNpmPackageToAnInstalledCopyAndReadsTheDirectoriesItNames) {
  const auto files = all_of(claude_desktop).at(0);
  EXPECT_EQ(files.name, "filesystem-project");
  EXPECT_THAT(files.steps,
              ElementsAre("npm install --ignore-scripts --prefix /opt/cellblock/filesystem-project "
                          "@modelcontextprotocol/server-filesystem@2025.8.21"));
  EXPECT_THAT(files.command,
              ElementsAre("/usr/bin/node",
                          "/opt/cellblock/filesystem-project/node_modules/@modelcontextprotocol/"
                          "server-filesystem/TODO",
                          "/srv/project/", "/srv/gone"));
  EXPECT_EQ(files.program, "/opt/cellblock/filesystem-project");
  EXPECT_EQ(files.profile, "node");
  EXPECT_THAT(paths_of(files.read), ElementsAre("/srv/project", "/srv/gone"));
  EXPECT_FALSE(files.read.at(1).is_there);
  EXPECT_THAT(files.write, IsEmpty());
}

TEST(Import, MakesAFileOfEachSecretAndNeverRepeatsItsValue) {
  const auto github = all_of(claude_desktop).at(1);
  ASSERT_EQ(github.secrets.size(), 1U);
  EXPECT_EQ(github.secrets[0].variable, "GITHUB_PERSONAL_ACCESS_TOKEN");
  EXPECT_EQ(github.secrets[0].file, "/etc/cellblock/secrets/github.GITHUB_PERSONAL_ACCESS_TOKEN");
  EXPECT_THAT(github.variables, ElementsAre(Pair("LOG_LEVEL", "debug")));
  EXPECT_THAT(github.todos, Contains(HasSubstr("VERSION")));
}

TEST(Import, PutsAPythonPackageIntoAnEnvironmentOfItsOwn) {
  const auto git = all_of(claude_desktop).at(2);
  EXPECT_THAT(
      git.steps,
      ElementsAre(
          "python3 -m venv /opt/cellblock/git",
          "/opt/cellblock/git/bin/pip install --only-binary :all: mcp-server-git==2025.9.25"));
  EXPECT_THAT(git.command,
              ElementsAre("/opt/cellblock/git/bin/python", "/opt/cellblock/git/bin/mcp-server-git",
                          "--repository", "/srv/project"));
  EXPECT_EQ(git.profile, "python");
}

TEST(Import, ReportsARemoteServerWithAPasswordWithoutItsAddress) {
  const auto docs = all_of(claude_desktop).at(3);
  EXPECT_THAT(docs.obstacle, HasSubstr("password stands in its address"));
  EXPECT_THAT(cell_toml({docs}) + import_summary({docs}), Not(HasSubstr("hunter2")));
}

TEST(Import, WritesWhatTheDaemonReads) {
  const auto config = read_back(all_of(claude_desktop));
  ASSERT_EQ(config.servers.size(), 3U);
  EXPECT_EQ(config.servers[0].name.value, "filesystem-project");
  EXPECT_EQ(config.servers[1].command->value.at(1).value, "/opt/cellblock/git/bin/mcp-server-git");
}

TEST(Import, WritesAnyTextSoThatItReadsAsTheSame) {
  Proposal odd{.name = "odd", .declared_as = "o\nd\033[2Jd\u202e"};
  odd.command = {"/bin/x", "a\"b\\c\n\t\x01\x7f", "grün \u202e\u2028 \U0001F600 ${x}"};
  odd.todos = {"line\n[server.evil]"};
  odd.remarks = {"\r\x1b]0;x\x07"};
  odd.variables = {{"A", "${x} $${y} $"}};
  odd.read = {{.path = "/srv/\"a\nb", .note = "x\ny", .is_there = false}};
  const auto text = cell_toml({odd});
  const auto config = read_back({odd});
  ASSERT_EQ(config.servers.size(), 1U);
  EXPECT_EQ(config.servers[0].command->value.at(1).value, odd.command[1]);
  EXPECT_EQ(config.servers[0].command->value.at(2).value, odd.command[2]);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\033")), Not(HasSubstr("\u202e")), Not(HasSubstr("\r"))));
  EXPECT_THAT(text, HasSubstr(R"(A = "$${x} $$${y} $")"));
}

TEST(Import, ReadsClaudeCodesProjectsAndItsPlaceholders) {
  const auto proposal = one_of(R"({"numStartups": 3, "projects": {"/home/a/p": {"mcpServers": {
    "db": {"type": "stdio", "command": "/opt/tool/bin/tool",
           "args": ["--level=${LEVEL:-info}", "--root", "${CLAUDE_PROJECT_DIR}", "${HOST}"],
           "env": {"DB_URL": "postgres://me:s3cretpw@db/x", "MODE": "${MODE:-fast}"}}}}}})");
  EXPECT_THAT(proposal.command,
              ElementsAre("/opt/tool/bin/tool", "--level=info", "--root", "/workspace", "TODO"));
  EXPECT_EQ(proposal.workspace, Workspace::read);
  EXPECT_THAT(proposal.variables, ElementsAre(Pair("MODE", "fast")));
  ASSERT_EQ(proposal.secrets.size(), 1U);
  EXPECT_EQ(proposal.secrets[0].variable, "DB_URL");
}

TEST(Import, ReadsVsCodesInputsAndSandboxWords) {
  const auto proposal = one_of(R"({
    // asked for once
    "inputs": [{"type": "promptString", "id": "key", "password": true}],
    "servers": {"search": {
      "type": "stdio", "command": "node", "args": ["/srv/app/main.js"],
      "env": {"SEARCH_KEY": "${input:key}"},
      "sandboxEnabled": true,
      "sandbox": {
        "filesystem": {"allowWrite": ["/srv/project", "${workspaceFolder}/out"], "denyRead": ["/etc"]},
        "network": {"allowedDomains": ["api.example.org", "*.example.net:8443", "http://x"]},
      },
    }},
  })");
  EXPECT_THAT(proposal.command, ElementsAre("/usr/bin/node", "/srv/app/main.js"));
  EXPECT_THAT(paths_of(proposal.read), ElementsAre("/srv/app"));
  EXPECT_THAT(paths_of(proposal.write), ElementsAre("/srv/project"));
  EXPECT_EQ(proposal.workspace, Workspace::write);
  EXPECT_THAT(proposal.domains, ElementsAre("api.example.org", "*.example.net:8443"));
  EXPECT_THAT(proposal.todos, Contains(HasSubstr("http://x")));
  EXPECT_EQ(proposal.secrets.size(), 1U);
  const auto config = read_back({proposal});
  EXPECT_EQ(config.servers.at(0).network->value, "egress");
}

TEST(Import, ReadsCodexToml) {
  const auto proposal = one_of(R"(
model = "x"
[mcp_servers.memo_1]
command = "bunx"
args = ["--bun", "memo@1.4.0", "--api-key", "abc"]
env_vars = ["MEMO_TOKEN"]
cwd = "/srv/app"
enabled_tools = ["read", "find"]
tool_timeout_sec = 30
[mcp_servers.memo_1.env]
PORT = "80"
)");
  EXPECT_EQ(proposal.name, "memo-1");
  EXPECT_THAT(proposal.command,
              ElementsAre("/usr/bin/node", HasSubstr("/memo/TODO"), "--api-key", "TODO"));
  EXPECT_EQ(proposal.secrets.at(0).variable, "MEMO_TOKEN");
  EXPECT_THAT(proposal.tools, ElementsAre("read", "find"));
  EXPECT_THAT(proposal.remarks, Contains("tool_timeout_sec"));
  EXPECT_THAT(proposal.todos, Contains(HasSubstr("/srv/app")));
  EXPECT_THAT(cell_toml({proposal}), HasSubstr(R"(tools = ["read", "find"])"));
}

TEST(Import, ReadsBothFormsOfZed) {
  const auto proposals = all_of(R"({"theme": "One", /* two ages */ "context_servers": {
    "old": {"source": "custom", "command": {"path": "python3", "args": ["-m", "x"], "env": {"A": "1"}}},
    "new": {"command": "python3", "args": ["-m", "y"], "timeout": 1000}}})");
  ASSERT_EQ(proposals.size(), 2U);
  EXPECT_THAT(proposals[0].command, ElementsAre("/usr/bin/python3", "-m", "x"));
  EXPECT_THAT(proposals[0].variables, ElementsAre(Pair("A", "1")));
  EXPECT_THAT(proposals[1].remarks, ElementsAre("timeout"));
}

TEST(Import, ReadsGeminisSettings) {
  const auto proposals = all_of(R"({"mcpServers": {
    "local": {"command": "npx", "args": ["@acme/installed@1.2.3"], "env": {"X": "$X_FROM_HOST"},
              "includeTools": ["a"], "excludeTools": ["b"], "trust": true},
    "far": {"httpUrl": "http://localhost:3000/mcp"}}})",
                                "gemini");
  EXPECT_THAT(
      proposals.at(0).command,
      ElementsAre("/usr/bin/node", "/opt/cellblock/local/node_modules/@acme/installed/main.js"));
  EXPECT_THAT(proposals.at(0).todos, IsEmpty());
  EXPECT_THAT(proposals.at(0).remarks, ElementsAre("excludeTools", "trust"));
  EXPECT_EQ(proposals.at(0).secrets.at(0).variable, "X");
  EXPECT_THAT(proposals.at(1).todos, Contains(HasSubstr("127.0.0.1/32:3000")));
}

TEST(Import, TakesTheVersionThatIsInstalledWhereNoneWasNamed) {
  const auto unnamed =
      one_of(R"({"mcpServers": {"x": {"command": "npx", "args": ["@acme/installed"]}}})");
  EXPECT_THAT(
      unnamed.steps,
      ElementsAre("npm install --ignore-scripts --prefix /opt/cellblock/x @acme/installed@1.2.3"));
  EXPECT_THAT(unnamed.todos, IsEmpty());
  const auto other =
      one_of(R"({"mcpServers": {"x": {"command": "npx", "args": ["@acme/installed@2.0.0"]}}})");
  EXPECT_THAT(other.todos, ElementsAre(HasSubstr("1.2.3 of @acme/installed is installed")));
}

TEST(Import, ReadsARegistrysServerJson) {
  const auto proposal = one_of(R"({"name": "io.github.acme/weather", "version": "0.5.0",
    "packages": [
      {"registryType": "oci", "identifier": "acme/weather", "version": "0.5.0"},
      {"registryType": "npm", "identifier": "@acme/weather", "version": "0.5.0",
       "transport": {"type": "stdio"},
       "packageArguments": [
         {"type": "positional", "value": "serve"},
         {"type": "named", "name": "--units", "default": "metric"},
         {"type": "positional", "valueHint": "data_dir", "isRequired": true}],
       "environmentVariables": [
         {"name": "WEATHER", "isRequired": true, "isSecret": true},
         {"name": "PROXY", "isRequired": false}]}]})");
  EXPECT_EQ(proposal.name, "weather");
  EXPECT_THAT(
      proposal.steps,
      ElementsAre(
          "npm install --ignore-scripts --prefix /opt/cellblock/weather @acme/weather@0.5.0"));
  EXPECT_THAT(proposal.command, ElementsAre("/usr/bin/node", HasSubstr("TODO"), "serve", "--units",
                                            "metric", "TODO"));
  EXPECT_EQ(proposal.secrets.at(0).variable, "WEATHER");
  EXPECT_THAT(proposal.remarks, ElementsAre(HasSubstr("PROXY")));
}

TEST(Import, ReadsTheManifestOfAnUnpackedBundle) {
  const auto proposal = one_of(R"({"manifest_version": "0.3", "name": "notes", "version": "1.0.0",
    "server": {"type": "node", "entry_point": "server/index.js", "mcp_config": {
      "command": "node", "args": ["${__dirname}/server/index.js", "--size=${user_config.size}"],
      "env": {"KEY": "${user_config.key}"},
      "platform_overrides": {"win32": {"command": "node.exe"}}}},
    "user_config": {"size": {"type": "number", "default": 5},
                    "key": {"type": "string", "sensitive": true, "default": "x"}}})");
  EXPECT_THAT(proposal.command,
              ElementsAre("/usr/bin/node", "/opt/cellblock/notes/server/index.js", "--size=5"));
  EXPECT_THAT(proposal.steps, Contains(HasSubstr("'/home/alice/it'\\''s mine'/.")));
  EXPECT_EQ(proposal.secrets.at(0).variable, "KEY");
  EXPECT_EQ(proposal.program, "/opt/cellblock/notes");
}

TEST(Import, WarnsOfABundleThatWouldCoverWhatIsThere) {
  const auto proposal = one_of(R"({"manifest_version": "0.3", "name": "there",
    "server": {"mcp_config": {"command": "node", "args": ["${__dirname}/index.js"]}}})");
  EXPECT_THAT(proposal.todos, Contains(HasSubstr("/opt/cellblock/there is there already")));
}

TEST(Import, OpensNothingDelicateForTheAsking) {
  for (const char* path : {"/etc/shadow", "/etc/cron.d", "/root/x", "/home/alice/.ssh/id_rsa"}) {
    const auto proposal =
        one_of(fmt::format(R"({{"mcpServers": {{"a": {{"command": "/opt/tool/bin/tool",)"
                           R"("args": ["{}"]}}}}}})",
                           path));
    EXPECT_THAT(proposal.todos, Contains(HasSubstr(path)));
    EXPECT_THAT(cell_toml({proposal}), HasSubstr(fmt::format("# \"{}\"", path)));
  }
}

TEST(Import, HasWhatAShellWouldReadMoreIntoQuoted) {
  const auto proposal = one_of(R"({"name": "x", "packages": [{"registryType": "pypi",
    "identifier": "x", "version": "1!2.0", "transport": {"type": "stdio"}}]})");
  EXPECT_THAT(proposal.steps, Contains(HasSubstr(" 'x==1!2.0'")));
}

TEST(Import, HasAPackedBundleUnpackedWhereItsCellSeesIt) {
  const auto servers = declared_servers(
      R"({"manifest_version": "0.3", "name": "notes",
          "server": {"mcp_config": {"command": "node", "args": ["${__dirname}/index.js"]}}})",
      {.format = {}, .bundle = {.archive = "/home/alice/it's mine.mcpb"}});
  ASSERT_TRUE(servers.has_value());
  const auto proposals = propose_all(*servers, machine(), places);
  ASSERT_TRUE(proposals.has_value());
  const auto& proposal = proposals->front();
  EXPECT_THAT(proposal.steps,
              ElementsAre("install -d -m 0700 /opt/cellblock/notes",
                          "unzip -q '/home/alice/it'\\''s mine.mcpb' -d /opt/cellblock/notes",
                          "chmod -R u=rwX,go=rX /opt/cellblock/notes"));
  EXPECT_THAT(proposal.todos, Not(Contains(HasSubstr("is there already"))));
  EXPECT_THAT(proposal.command, ElementsAre("/usr/bin/node", "/opt/cellblock/notes/index.js"));
}

TEST(Import, ProposesNoCellForWhatCannotRunInOne) {
  const auto proposals = all_of(R"({"mcpServers": {
    "a": {"command": "docker", "args": ["run", "-i", "x"]},
    "b": {"command": "bash", "args": ["-c", "echo $SECRET"]},
    "c": {"command": "npx", "args": ["-y", "github:acme/tool; rm -rf /"]},
    "d": {"command": "npx", "args": ["--call", "x"]},
    "e": {"args": ["x"]}}})");
  for (const auto& proposal : proposals) EXPECT_NE(proposal.obstacle, "") << proposal.name;
  EXPECT_THAT(read_back(proposals).servers, IsEmpty());
}

TEST(Import, RefusesNamesThatWouldBeOneAndTakesEqualOnesOnce) {
  EXPECT_THAT(
      mistake_in(R"({"mcpServers": {"My Files": {"command": "a"}, "my_files": {"command": "b"}}})"),
      HasSubstr("would both be the server \"my-files\""));
  EXPECT_THAT(mistake_in(R"({"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}})"),
              HasSubstr("\"a\" stands twice"));
  EXPECT_THAT(mistake_in(R"({"mcpServers": {"!!!": {"command": "x"}}})"), HasSubstr("no name"));
  EXPECT_EQ(all_of(R"({"mcpServers": {"a": {"command": "x"}},
                       "projects": {"/p": {"mcpServers": {"a": {"command": "x"}}}}})")
                .size(),
            1U);
  EXPECT_EQ(server_name_for("1Password"), "mcp-1password");
}

TEST(Import, RefusesWhatItDoesNotKnowOrCannotTellApart) {
  EXPECT_THAT(mistake_in(R"({"a": 1})"), HasSubstr("no servers are declared"));
  EXPECT_THAT(mistake_in(R"({"mcpServers": {}, "servers": {}})"), HasSubstr("--from"));
  EXPECT_THAT(mistake_in(R"({"mcpServers": {}})"), HasSubstr("no server"));
  EXPECT_THAT(mistake_in("{\n\"token\": \"hunter2\" x"),
              AllOf(HasSubstr("line 2"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(mistake_in("[broken"), HasSubstr("no TOML"));
  EXPECT_THAT(mistake_in(""), HasSubstr("no servers"));
}

TEST(Import, TakesOverTheOtherServersWhereOneIsWrittenWrong) {
  const auto servers =
      all_of(R"({"mcpServers": {"a": {"command": 7}, "b": {"command": "/opt/x"}, "c": []}})");
  ASSERT_EQ(servers.size(), 3U);
  EXPECT_EQ(servers[0].obstacle, "\"command\" is not text");
  EXPECT_EQ(servers[1].obstacle, "");
  EXPECT_EQ(servers[2].obstacle, "it is no object");
}

TEST(Import, BoundsWhatItReads) {
  const auto deep = std::string(10'000, '[');
  EXPECT_THAT(mistake_in("{\"a\":" + deep), HasSubstr("deeper than 32"));
  EXPECT_THAT(mistake_in("a = " + std::string(200, '[') + std::string(200, ']')),
              HasSubstr("deeper than 32"));
  EXPECT_THAT(mistake_in("a" + std::string(40'000, '.') + "b = 1"), Not("none"));
  std::string many;
  for (int i = 0; i < 300; ++i) {
    many += fmt::format("{}\"s{}\":{{\"command\":\"x\"}}", i == 0 ? "" : ",", i);
  }
  EXPECT_THAT(mistake_in("{\"mcpServers\":{" + many + "}}"), HasSubstr("more than 256"));
  EXPECT_THAT(one_of(R"({"mcpServers": {"a": {"command": "x\u0000y"}}})").obstacle,
              HasSubstr("NUL"));
}

TEST(Import, LeavesPathsOutThatNoCellMayHave) {
  const auto proposal = one_of(
      R"({"mcpServers": {"a": {"command": "python3", "args": ["/", "/etc", "/tmp/x", "/srv/../etc",
          "/usr/share/x", "~/notes", "C:\\x"]}}})");
  EXPECT_THAT(proposal.read, IsEmpty());
  EXPECT_EQ(proposal.todos.size(), 6U);
}

TEST(PackageRun, FindsThePackageBehindOptions) {
  const auto run = [](std::vector<std::string> words) {
    const auto found = package_run(words);
    return found && *found ? pinned((*found)->package) + "|" + (*found)->program : "none";
  };
  EXPECT_EQ(run({"npx", "-y", "a@1.0.0", "b"}), "a@1.0.0|");
  EXPECT_EQ(run({"/usr/bin/npx", "--package=@s/a@2.0.0-rc.1", "--", "tool"}),
            "@s/a@2.0.0-rc.1|tool");
  EXPECT_EQ(run({"npx", "a@latest"}), "a@VERSION|");
  EXPECT_EQ(run({"npx", "a@^1.0.0"}), "a@VERSION|");
  EXPECT_EQ(run({"cmd", "/c", "npx", "a@1.0.0"}), "a@1.0.0|");
  EXPECT_EQ(run({"npm", "exec", "-y", "--", "a@1.0.0"}), "a@1.0.0|");
  EXPECT_EQ(run({"uvx", "--from", "big-package==1.2", "tool"}), "big-package==1.2|tool");
  EXPECT_EQ(run({"uvx", "-p", "3.12", "tool@0.3.1"}), "tool==0.3.1|");
  EXPECT_EQ(run({"uv", "tool", "run", "tool>=1"}), "tool==VERSION|");
  EXPECT_EQ(run({"uvx", "--index-url", "http://x", "tool"}), "none");
  EXPECT_EQ(run({"npx", "$(reboot)"}), "none");
  EXPECT_EQ(run({"node", "x.js"}), "none");
}

TEST(PackageRun, KeepsARangeOrATagToTellOfIt) {
  const auto range = [](std::vector<std::string> words) {
    return package_run(words).value().value().package.range;
  };
  EXPECT_EQ(range({"npx", "a@^1.0.0"}), "^1.0.0");
  EXPECT_EQ(range({"npx", "@s/a@next"}), "next");
  EXPECT_EQ(range({"npx", "a@1"}), "1");
  EXPECT_EQ(range({"uvx", "tool>=1"}), ">=1");
  EXPECT_EQ(range({"npx", "a@latest"}), "");
  EXPECT_EQ(range({"npx", "a@1.0.0"}), "");
  EXPECT_EQ(range({"npx", "a"}), "");
}

TEST(SecretGuess, TellsSecretsFromOrdinaryValues) {
  for (const char* name : {"API_KEY", "githubToken", "--password", "DB_DSN", "x-auth"}) {
    EXPECT_TRUE(sounds_secret(name)) << name;
  }
  for (const char* name : {"KEYBOARD", "PATH", "MONKEY", "LOG_LEVEL"}) {
    EXPECT_FALSE(sounds_secret(name)) << name;
  }
  for (const char* value : {"0a1b2c3d4e5f60718293a4b5c6d7e8f9", "postgres://me:s3cretpw@db/x",
                            "redis://:pw@db:6379/0", "https://me:a@b@example.org"}) {
    EXPECT_TRUE(looks_secret(value)) << value;
  }
  for (const char* value : {"info", "/srv/project/of/a/long/path/1234567", "http://localhost:80",
                            "ssh://git@example.org/x:y", "https://example.org/a:b@c"}) {
    EXPECT_FALSE(looks_secret(value)) << value;
  }
  for (const char* value : {"${input:x}", "$TOKEN", "<token>", "YOUR_KEY", "xxxx"}) {
    EXPECT_TRUE(is_placeholder(value)) << value;
  }
  EXPECT_FALSE(is_placeholder("/home/your/x"));
}

}  // namespace
}  // namespace cellblock::cli
