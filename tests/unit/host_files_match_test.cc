#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/host_files/entry_match.h"
#include "client/cli/host_files/host_entries.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::cli {
namespace {

using Texts = std::vector<std::string>;

// In which these files are.
MachineView machine_with(Texts files) {
  return {.kind_of =
              [files = std::move(files)](const std::string& path) {
                const bool is_there = std::ranges::find(files, path) != files.end();
                return is_there ? PathKind::file : PathKind::absent;
              },
          .find_program = [](const std::string&) { return std::string(); },
          .installed = [](const std::string&,
                          const PackageName&) { return std::optional<InstalledPackage>(); }};
}

OwnServer added(const std::string& name, Texts line) {
  return {.name = name,
          .arguments = {"--user", "connect", name},
          .origin = Origin{.command = std::move(line)}};
}

OwnServer declared(const std::string& name, Texts command) {
  return {.name = name, .arguments = {"--user", "connect", name}, .command = std::move(command)};
}

OwnServer given(OwnServer server, const std::string& name, std::optional<std::string> value) {
  server.variables[name] = std::move(value);
  return server;
}

// "PATH: SERVER" or "PATH: why it stays" of each entry.
Texts fates_in(std::string_view text, const std::vector<OwnServer>& servers, Texts files = {}) {
  const auto entries = host_entries(text);
  if (!entries) return {entries.error().text};
  Texts told;
  for (const auto& fate : fates_of(*entries, servers, "/here", machine_with(std::move(files)))) {
    told.push_back(path_text(fate.entry->path) + ": " +
                   (fate.arguments.empty() ? fate.why_it_stays : fate.arguments.back()));
  }
  return told;
}

constexpr const char* unknown =
    "cellblock has no such server (`cellblock import FILE --install` adds it)";

TEST(HostEntry, BecomesTheServerThatWasAddedWithItsLine) {
  EXPECT_EQ(fates_in(R"({"mcpServers": {"notes": {"command": "srv", "args": ["--all"]}}})",
                     {added("memory", {"srv", "--all"})}),
            Texts{"mcpServers.notes: memory"});
}

TEST(HostEntry, WithAVariableThatTheServerLacksStays) {
  constexpr std::string_view text =
      R"({"mcpServers": {"notes": {"command": "srv", "env": {"TOKEN": "t", "PATH": "/x"}}}})";
  const auto server = added("memory", {"srv"});
  EXPECT_EQ(fates_in(text, {server}),
            Texts{"mcpServers.notes: it has the variable TOKEN, which cellblock's server "
                  "\"memory\" is not given"});
  EXPECT_EQ(fates_in(text, {given(server, "TOKEN", std::nullopt)}),
            Texts{"mcpServers.notes: memory"});
  EXPECT_EQ(fates_in(text, {given(server, "TOKEN", "t")}), Texts{"mcpServers.notes: memory"});
}

TEST(HostEntry, WithAnotherTokenThanTheServersStays) {
  constexpr std::string_view text =
      R"({"mcpServers": {"a": {"command": "srv", "env": {"TOKEN": "mine"}},
                         "b": {"command": "srv", "env": {"TOKEN": "other"}}}})";
  EXPECT_EQ(fates_in(text, {given(added("one", {"srv"}), "TOKEN", "mine")}),
            (Texts{"mcpServers.a: one",
                   "mcpServers.b: its variable TOKEN has another value than cellblock's server "
                   "\"one\" is given"}));
  EXPECT_EQ(fates_in(text, {given(added("one", {"srv"}), "TOKEN", "mine"),
                            given(added("two", {"srv"}), "TOKEN", "other")}),
            (Texts{"mcpServers.a: one", "mcpServers.b: two"}));
}

TEST(HostEntry, WhoseValueTheHostFillsInIsNotComparedByIt) {
  EXPECT_EQ(fates_in(R"({"servers": {"a": {"command": "srv", "env": {"TOKEN": "${input:t}"}}}})",
                     {given(added("one", {"srv"}), "TOKEN", "mine")}),
            Texts{"servers.a: one"});
}

TEST(HostEntry, WithVariablesInAnotherFormIsComparedByThemToo) {
  EXPECT_EQ(fates_in("[mcp_servers.a]\ncommand = \"srv\"\nenv_vars = [\"TOKEN\"]\n",
                     {added("one", {"srv"})}),
            Texts{"mcp_servers.a: it has the variable TOKEN, which cellblock's server \"one\" is "
                  "not given"});
  EXPECT_EQ(
      fates_in(
          R"({"context_servers": {"a": {"command": {"path": "srv", "args": [], "env": {"K": "v"}}}}})",
          {added("one", {"srv"})}),
      Texts{"context_servers.a: it has the variable K, which cellblock's server \"one\" is not "
            "given"});
  EXPECT_EQ(fates_in(R"({"servers": {"a": {"command": "srv", "envFile": ".env"}}})",
                     {added("one", {"srv"})}),
            Texts{"servers.a: it has variables in a file of their own (envFile)"});
}

TEST(HostEntry, ThatSharesItsServerWithAnotherStays) {
  EXPECT_EQ(fates_in(R"({"mcpServers": {"a": {"command": "srv"}, "b": {"command": "srv"}}})",
                     {added("one", {"srv"})}),
            (Texts{"mcpServers.a: it and mcpServers.b would both become cellblock's server "
                   "\"one\"",
                   "mcpServers.b: it and mcpServers.a would both become cellblock's server "
                   "\"one\""}));
  EXPECT_EQ(
      fates_in(
          R"({"mcpServers": {"a": {"command": "srv"},
                             "b": {"command": "cellblock", "args": ["--user", "connect", "one"]}}})",
          {added("one", {"srv"})}),
      Texts{"mcpServers.a: it and mcpServers.b would both become cellblock's server \"one\""});
}

TEST(HostEntry, OfANameAloneIsAnotherServer) {
  constexpr std::string_view text =
      R"({"mcpServers": {"files": {"command": "python3", "args": ["/a.py"]}}})";
  EXPECT_EQ(fates_in(text, {declared("files", {"/usr/bin/python3", "/a.py"})}),
            Texts{"mcpServers.files: files"});
  for (const auto& other : {Texts{"/usr/bin/python3", "/b.py"}, Texts{"/usr/bin/node", "/a.py"},
                            Texts{"/usr/bin/python3", "/a.py", "/data"}, Texts{}}) {
    EXPECT_EQ(fates_in(text, {declared("files", other)}),
              Texts{"mcpServers.files: cellblock's server \"files\" is started by another "
                    "command"});
  }
  EXPECT_EQ(fates_in(text, {declared("data", {"/usr/bin/python3", "/a.py"})}),
            Texts{std::string("mcpServers.files: ") + unknown});
}

TEST(HostEntry, OfAPackageIsTheServerThatIsDeclaredFromItsInstallation) {
  const auto server =
      declared("files", {"/usr/bin/node", "/opt/f/node_modules/@a/files/dist/index.js", "/data"});
  const auto entry = [](std::string_view package, std::string_view directory) {
    return R"({"mcpServers": {"files": {"command": "npx", "args": ["-y", ")" +
           std::string(package) + R"(", ")" + std::string(directory) + R"("]}}})";
  };
  EXPECT_EQ(fates_in(entry("@a/files", "/data"), {server}), Texts{"mcpServers.files: files"});
  for (const auto& text :
       {entry("@a/files", "/other"), entry("@a/file", "/data"), entry("@a/files@1.2.3", "/data")}) {
    EXPECT_EQ(fates_in(text, {server}).front(),
              "mcpServers.files: cellblock's server \"files\" is started by another command");
  }
}

TEST(HostEntry, OfAProjectHasItsRelativePathsThere) {
  constexpr std::string_view text =
      R"({"projects": {"/a": {"mcpServers": {"files": {"command": "./srv"}}},
                       "/b": {"mcpServers": {"files": {"command": "./srv"}}}},
          "mcpServers": {"files": {"command": "./srv"},
                         "with-directory": {"command": "./srv", "cwd": "/c"}}})";
  EXPECT_EQ(
      fates_in(text, {added("of-a", {"/a/srv"}), added("of-c", {"/c/srv"})},
               {"/a/srv", "/b/srv", "/c/srv", "/here/srv"}),
      (Texts{"projects./a.mcpServers.files: of-a",
             std::string("projects./b.mcpServers.files: ") + unknown,
             std::string("mcpServers.files: ") + unknown, "mcpServers.with-directory: of-c"}));
}

TEST(HostEntry, OfTheSameNameInTwoProjectsIsNotOneServer) {
  constexpr std::string_view text =
      R"({"projects": {"/a": {"mcpServers": {"files": {"command": "srv", "args": ["/x"]}}},
                       "/b": {"mcpServers": {"files": {"command": "srv", "args": ["/y"]}}}}})";
  EXPECT_EQ(fates_in(text, {declared("files", {"/usr/bin/srv", "/x"})}),
            (Texts{"projects./a.mcpServers.files: files",
                   "projects./b.mcpServers.files: cellblock's server \"files\" is started by "
                   "another command"}));
}

TEST(HostEntry, WithoutACommandOrAKnownAddressStays) {
  EXPECT_EQ(fates_in(R"({"mcpServers": {"a": {"url": "https://x"}}})", {}),
            Texts{std::string("mcpServers.a: ") + unknown});
  EXPECT_EQ(fates_in(R"({"mcpServers": {"a": {"disabled": true}}})", {}),
            Texts{"mcpServers.a: it has no command"});
}

TEST(HostEntry, WithAnAddressBecomesTheServerThatWasAddedForIt) {
  const auto server =
      given(added("far", {"npx", "-y", "mcp-remote", "https://example.org/mcp", "--header",
                          "Authorization:Bearer ${HEADER_AUTHORIZATION}"}),
            "HEADER_AUTHORIZATION", "mine");
  constexpr std::string_view text =
      R"({"mcpServers": {"a": {"type": "http", "url": "https://example.org/mcp",
                               "headers": {"Authorization": "Bearer mine"}},
                         "b": {"url": "https://example.org/mcp",
                               "headers": {"Authorization": "Bearer other"}},
                         "c": {"url": "https://example.org/mcp"}}})";
  EXPECT_EQ(fates_in(text, {server}),
            (Texts{"mcpServers.a: far",
                   "mcpServers.b: its variable HEADER_AUTHORIZATION has another value than "
                   "cellblock's server \"far\" is given",
                   std::string("mcpServers.c: ") + unknown}));
}

// ---- what is declared ----

TEST(OwnServers, AreReadFromAllFilesOfAConfigurationWithWhatTheyAreGiven) {
  const ScratchDirectory directory;
  const auto at = [&](const char* name) { return directory.path() + "/" + name; };
  directory.make_directory("servers.d", 0755);
  directory.make_directory("servers", 0755);
  directory.make_directory("servers/two", 0755);
  const auto secret = directory.write("secret", "s\n", 0600);
  directory.write("cellblock.toml", "[server.one]\ncommand = [\"/a\", \"b\"]\n", 0644);
  directory.write(
      "servers.d/two.toml",
      "[server.two]\ncommand = [\"/c\"]\nenv = { A = \"x\" }\n[server.two.env_from_file]"
      "\nB = \"" +
          secret + "\"\nC = \"/not/there\"\nD = { credential = \"d\" }\n",
      0644);
  directory.write("servers.d/wrong.toml", "[", 0644);
  directory.write("servers/two/origin.json", origin_text({.command = {"c"}}), 0644);
  const auto servers = declared_in({.mode = Mode::user,
                                    .main_file = at("cellblock.toml"),
                                    .declarations = at("servers.d"),
                                    .secrets = at("secrets"),
                                    .servers = at("servers")});
  ASSERT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers[0].command, (Texts{"/a", "b"}));
  EXPECT_FALSE(servers[0].origin);
  EXPECT_EQ(servers[1].name, "two");
  ASSERT_TRUE(servers[1].origin);
  EXPECT_EQ(servers[1].origin->command, Texts{"c"});
  const std::map<std::string, std::optional<std::string>> expected{
      {"A", "x"}, {"B", "s"}, {"C", std::nullopt}, {"D", std::nullopt}};
  EXPECT_EQ(servers[1].variables, expected);
}

}  // namespace
}  // namespace cellblock::cli
