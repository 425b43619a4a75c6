#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/add/add_request.h"
#include "client/cli/add/added_files.h"
#include "client/cli/add/added_proposal.h"
#include "client/cli/add/new_server.h"
#include "client/cli/add/origin.h"
#include "client/cli/add/running_daemon.h"
#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/install/installing_cell.h"
#include "client/cli/install/package_install.h"
#include "client/cli/install/pip_settings.h"
#include "client/cli/install/places.h"
#include "client/cli/install/scratch.h"
#include "policy/config_reader/config_text.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

const std::vector<std::string> present = {"/home/alice/project", "/home/alice/server.js",
                                          "/home/alice/keys.json"};

MachineView machine() {
  return {.kind_of =
              [](const std::string& path) {
                return std::ranges::find(present, path) == present.end() ? PathKind::absent
                                                                         : PathKind::directory;
              },
          .find_program =
              [](const std::string& name) {
                return name == "node" ? std::string("/usr/bin/node") : std::string();
              },
          .installed =
              [](const std::string& prefix, const PackageName& package) {
                return std::optional<InstalledPackage>(
                    {.entry = prefix + "/node_modules/" + package.name + "/main.js",
                     .version = "1.2.3"});
              }};
}

const Places places{.programs = "/opt/cellblock/servers",
                    .secrets = "/etc/cellblock/secrets",
                    .installed = "/opt/cellblock/servers/files/1.2.3-01020304"};

AddedServer added(std::vector<std::string> command) {
  return {.declared = {.name = "files", .command = std::move(command)}, .users = {"alice"}};
}

Proposal proposed(const AddedServer& server, const std::optional<Recipe>& recipe = {}) {
  auto proposal = added_proposal(server, recipe, machine(), places);
  EXPECT_TRUE(proposal.has_value()) << proposal.error().text;
  return proposal.value_or(Proposal{});
}

std::string refusal(const AddedServer& server) {
  const auto proposal = added_proposal(server, {}, machine(), places);
  return proposal ? "none" : proposal.error().text;
}

/// Complaints of the daemon's reader; one a line.
std::string complaints_about(const std::string& table) {
  Complaints complaints;
  parse_config_text(table, "it.toml", FileRole::servers_only, complaints);
  std::string text;
  for (const auto& complaint : complaints.take_sorted()) text += to_line(complaint) + "\n";
  return text;
}

// ---- the declaration ----

TEST(Add, RunsTheInstalledVersionOfAPackageForTheUserAlone) {
  const auto proposal = proposed(added({"npx", "-y", "@acme/files", "/home/alice/project"}));
  EXPECT_THAT(proposal.command,
              ElementsAre("/usr/bin/node",
                          "/opt/cellblock/servers/files/1.2.3-01020304/node_modules/@acme/files/"
                          "main.js",
                          "/home/alice/project"));
  EXPECT_EQ(proposal.program, "/opt/cellblock/servers/files/1.2.3-01020304");
  EXPECT_THAT(proposal.users, ElementsAre("alice"));
  EXPECT_THAT(proposal.steps, IsEmpty());
}

TEST(Add, WritesATableThatTheDaemonReadsAndThatLeavesNothingToDo) {
  auto server = added({"npx", "@acme/files", "/home/alice/project"});
  server.declared.variables = {{.name = "LOG", .value = "debug"},
                               {.name = "API_TOKEN", .value = "abcdef"}};
  server.egress = {"api.example.org:443"};
  auto proposal = proposed(server);
  proposal.limits = {{"tmp", "1GiB"}, {"pids", "64"}};
  const auto table = server_toml(proposal);
  EXPECT_EQ(complaints_about(table), "");
  EXPECT_THAT(table, Not(HasSubstr("TODO")));
  EXPECT_THAT(table, Not(HasSubstr("abcdef")));
  EXPECT_THAT(table, HasSubstr("limits  = { tmp = \"1GiB\", pids = 64 }"));
  EXPECT_THAT(table, HasSubstr("[server.files.allow]\nusers = [\"alice\"]\n"));
}

TEST(Add, NamesAUserWithoutAnAccountByNumber) {
  auto proposal = proposed(added({"npx", "@acme/files"}));
  proposal.users = {"64101"};
  EXPECT_THAT(server_toml(proposal), HasSubstr("users = [64101]"));
}

TEST(Add, GivesPathsToReadUnlessToldToWrite) {
  auto server = added({"npx", "@acme/files", "/home/alice/project"});
  EXPECT_EQ(proposed(server).read.at(0).path, "/home/alice/project");
  server.write = {"/home/alice/project"};
  const auto proposal = proposed(server);
  EXPECT_THAT(proposal.read, IsEmpty());
  EXPECT_EQ(proposal.write.at(0).path, "/home/alice/project");
}

TEST(Add, RefusesWhatAnAdministratorWouldHaveToDecide) {
  EXPECT_THAT(refusal(added({"npx", "@acme/files", "/home/alice/gone"})),
              HasSubstr("is not there"));
  EXPECT_THAT(refusal(added({"npx", "@acme/files", "--token", "sk-live-0123456789abcdef0123"})),
              HasSubstr("looked like a secret"));
  EXPECT_THAT(refusal(added({"npx", "@acme/files", "/home/alice/.ssh"})), HasSubstr("secrets"));
  EXPECT_THAT(refusal(added({"docker", "run", "-i", "image"})), HasSubstr("container"));
  auto server = added({"npx", "@acme/files"});
  server.egress = {"localhost:5432"};
  EXPECT_THAT(refusal(server), HasSubstr("127.0.0.1/32:5432"));
  server.egress = {};
  server.write = {"/home"};
  EXPECT_THAT(refusal(server), HasSubstr("/home"));
}

TEST(Add, RefusesTheWholeHomeOfWhoAddsIt) {
  auto server = added({"npx", "@acme/files", "/home/alice"});
  server.home = "/home/alice";
  const auto refused = [&] {
    const auto checked = check_requested_access(server, machine());
    return checked ? std::string() : checked.error().text;
  };
  EXPECT_THAT(refused(), HasSubstr("/home/alice is or holds your whole home"));
  server.declared.command = {"npx", "@acme/files", "/home/alice/project"};
  EXPECT_EQ(refused(), "");
  server.read = {"/home/alice"};
  EXPECT_THAT(refused(), HasSubstr("name a directory in it"));
  server.read = {"/home/alice/project"};
  EXPECT_EQ(refused(), "");
}

TEST(Add, RefusesARelativePathThatIsNotThere) {
  const auto checked = [](Words command) {
    return check_relative_paths(command, "/home/alice", machine());
  };
  EXPECT_TRUE(checked({"npx", "@acme/files", "./project", "owner/name"}));
  const auto refused = checked({"npx", "@acme/files", "./gone"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("./gone: /home/alice/gone is not there"));
}

TEST(AddRequest, RefusesAVariableWithoutANameOfOne) {
  for (const char* word : {"=x", "", "A-B=x", "1A=x"}) {
    const auto refused =
        added_server({.server = "files", .command = {"/usr/bin/true"}, .environment = {word}}, {});
    ASSERT_FALSE(refused) << word;
    EXPECT_THAT(refused.error().text, HasSubstr("allowed: NAME=VALUE or NAME")) << word;
  }
}

TEST(AddRequest, RefusesADescriptionThatIsNotThere) {
  for (const char* file : {"/nonexistent/x.mcpb", "/nonexistent/server.json"}) {
    const auto refused = added_server({.server = "files", .command = {file}}, {});
    ASSERT_FALSE(refused) << file;
    EXPECT_THAT(refused.error().text, HasSubstr("there is no such file")) << file;
  }
}

TEST(Add, AllowsTheToolsThatWereOfferedAndNoOthers) {
  EXPECT_THAT(allowed_tools({"read_file", "list"}), ElementsAre("read_file", "list"));
  EXPECT_THAT(allowed_tools({"read_*", "list"}), ElementsAre("list"));
  EXPECT_THAT(allowed_tools({}), IsEmpty());
}

TEST(Add, MakesPathsWholeButNoNamesOfPackages) {
  const auto whole = [](std::vector<std::string> command) {
    return with_whole_paths(command, "/home/alice", machine());
  };
  EXPECT_THAT(whole({"node", "server.js", "./project", "project"}),
              ElementsAre("node", "/home/alice/server.js", "/home/alice/project", "project"));
  EXPECT_THAT(whole({"npx", "project"}), ElementsAre("npx", "project"));
  EXPECT_THAT(whole({"npx", "@acme/files", "./gone"}), ElementsAre("npx", "@acme/files", "./gone"));
}

// ---- recipes ----

TEST(Recipes, FillInWhatTheCommandDoesNotSay) {
  const auto recipe = read_recipe(
      "package = \"@acme/files\"\npaths = \"write\"\negress = [\"api.example.org:443\"]\n"
      "arguments = [\"--stdio\"]\nprofile = \"browser\"\nlimits = { pids = 1024 }\n"
      "[variables]\nSTATE = \"/home/mcp/state\"\n");
  ASSERT_TRUE(recipe) << recipe.error().text;
  const auto proposal = proposed(added({"npx", "@acme/files", "/home/alice/project"}), *recipe);
  EXPECT_EQ(proposal.write.at(0).path, "/home/alice/project");
  EXPECT_THAT(proposal.domains, ElementsAre("api.example.org:443"));
  EXPECT_EQ(proposal.command.at(2), "--stdio");
  EXPECT_EQ(proposal.command.at(3), "/home/alice/project");
  EXPECT_EQ(proposal.profile, "browser");
  EXPECT_THAT(proposal.limits, ElementsAre(Pair("pids", "1024")));
  EXPECT_THAT(proposal.variables, ElementsAre(Pair("STATE", "/home/mcp/state")));
}

TEST(Recipes, NameTheSecretsThatAreMissing) {
  const Recipe recipe{.package = "p", .secrets = {"A", "B"}};
  EXPECT_EQ(missing_secrets(recipe, {{.name = "B", .value = "x"}}), " --env A");
  EXPECT_EQ(missing_secrets(recipe, {{.name = "A", .value = "x"}, {.name = "B", .value = ""}}),
            " --env B");
}

TEST(Recipes, NameTheArgumentThatIsMissing) {
  const Recipe recipe{.package = "files", .needs = "a directory"};
  EXPECT_TRUE(check_arguments(recipe, {"/srv"}));
  const auto missing = check_arguments(recipe, {});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text, HasSubstr("it needs a directory, behind the package's name"));
}

TEST(Recipes, TakeNoUnknownKey) {
  const auto recipe = read_recipe("package = \"p\"\nwrites = true\n");
  ASSERT_FALSE(recipe);
  EXPECT_THAT(recipe.error().text, HasSubstr("\"writes\""));
}

TEST(Recipes, OfEveryPackageAreReadableAndNamedAfterIt) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(CELLBLOCK_RECIPES)) {
    const auto text = bounded_file(entry.path().string(), max_import_bytes);
    ASSERT_TRUE(text);
    const auto recipe = read_recipe(*text);
    ASSERT_TRUE(recipe) << entry.path() << ": " << recipe.error().text;
    auto name = recipe->package;
    std::ranges::replace_if(name, [](char byte) { return byte == '/' || byte == ':'; }, '+');
    EXPECT_EQ(entry.path().filename(), name + ".toml");
    const bool is_address = recipe->package.starts_with("https://");
    auto server = added(is_address ? Words{"npx", "mcp-remote", recipe->package + "/mcp"}
                                   : Words{"npx", recipe->package});
    for (const auto& secret : recipe->secrets) {
      server.declared.variables.push_back({.name = secret, .value = "x", .secret = true});
    }
    EXPECT_EQ(complaints_about(server_toml(proposed(server, *recipe))), "") << entry.path();
    ++count;
  }
  EXPECT_GE(count, 30);
}

// ---- installing ----

PackageInstaller made_installer(bool has_scripts) {
  return {.reaches = "https://registry.example.org/",
          .program = "/usr/bin/node",
          .script_name = "installer.mjs",
          .profile = "node",
          .egress = {"registry.example.org:443"},
          .variables = {{"npm_config_audit", "false"}},
          .has_scripts = has_scripts};
}

TEST(InstallingCells, ReachTheRegistryAloneAndRunScriptsWithoutANetwork) {
  const auto text = installing_cells(made_installer(true), {"/s/installer", "/s/out", 1000});
  EXPECT_EQ(complaints_about(text), "");
  const auto second = text.find("[server.scripts]");
  const auto install = text.substr(0, second);
  EXPECT_THAT(install, HasSubstr("egress = { allow = [\"registry.example.org:443\"] }"));
  EXPECT_THAT(install, HasSubstr("write = [\"/s/out:/out\"]"));
  EXPECT_THAT(install, Not(HasSubstr("env_from_file")));
  EXPECT_THAT(text.substr(second), HasSubstr("network = \"none\""));
}

TEST(InstallingCells, HaveTheTokenOfTheRegistryWhereTheyReachItAlone) {
  auto installer = made_installer(true);
  installer.secrets = {{"NPM_CREDENTIALS", "//registry.example.org/:_authToken=hush\n"}};
  const auto text = installing_cells(installer, {"/s/installer", "/s/out", 1000, "/s/secrets"});
  EXPECT_EQ(complaints_about(text), "");
  EXPECT_THAT(text, Not(HasSubstr("hush")));
  const auto second = text.find("[server.scripts]");
  EXPECT_THAT(text.substr(0, second),
              HasSubstr("[server.install.secret_files]\n"
                        "NPM_CREDENTIALS = \"/s/secrets/NPM_CREDENTIALS\""));
  EXPECT_THAT(text.substr(second), Not(HasSubstr("secret_files")));
}

TEST(InstallingCells, AreOneWherePackagesRunNothingAtTheirInstallation) {
  const auto text = installing_cells(made_installer(false), {"/s/installer", "/s/out", 1000});
  EXPECT_EQ(complaints_about(text), "");
  EXPECT_THAT(text, Not(HasSubstr("[server.scripts]")));
}

TEST(PipSettings, PreferTheEnvironmentToTheFileAndInstallToGlobal) {
  const std::string list =
      "global.index-url='https://global.example.org/simple'\n"
      "install.index-url='https://install.example.org/simple'\nglobal.cert='/etc/ca.pem'\n";
  EXPECT_EQ(pip_value(list, "index-url"), "https://install.example.org/simple");
  EXPECT_EQ(pip_value(list + ":env:.index-url='https://own.example.org/simple'\n", "index-url"),
            "https://own.example.org/simple");
  EXPECT_EQ(pip_value(list, "cert"), "/etc/ca.pem");
  EXPECT_EQ(pip_value(list, "proxy"), "");
}

TEST(InstalledWheel, IsFoundByItsNameAsPyPiComparesThem) {
  const ScratchDirectory directory;
  directory.make_directory("mcp_server_git-2.1.0.dist-info", 0755);
  directory.make_directory("bin", 0755);
  directory.write("bin/mcp-server-git", "", 0755);
  const auto points = "[console_scripts]\nother = a:b\nmcp-server-git = c:main\n[x]\nlast = d:e\n";
  directory.write("mcp_server_git-2.1.0.dist-info/entry_points.txt", points, 0644);
  EXPECT_THAT(console_scripts(points), ElementsAre("other", "mcp-server-git"));
  const auto installed = installed_by_pip(directory.path(), "MCP.Server_git");
  ASSERT_TRUE(installed);
  EXPECT_EQ(installed->version, "2.1.0");
  EXPECT_EQ(installed->entry, directory.path() + "/bin/mcp-server-git");
  EXPECT_FALSE(installed_by_pip(directory.path(), "mcp-server"));
}

TEST(InstalledWheel, IsNoneWhereADependencySaysThatItIsThePackageToo) {
  const ScratchDirectory directory;
  directory.make_directory("mcp_server_git-2.1.0.dist-info", 0755);
  directory.make_directory("bin", 0755);
  directory.write("bin/mcp-server-git", "", 0755);
  const auto points = "[console_scripts]\nmcp-server-git = c:main\n";
  directory.write("mcp_server_git-2.1.0.dist-info/entry_points.txt", points, 0644);
  ASSERT_TRUE(installed_by_pip(directory.path(), "mcp-server-git"));
  directory.make_directory("MCP.Server-Git-9.9.9.dist-info", 0755);
  EXPECT_FALSE(installed_by_pip(directory.path(), "mcp-server-git"));
}

TEST(InstalledWheel, HasNoProgramThatIsAPath) {
  const ScratchDirectory directory;
  directory.make_directory("bad-1.0.dist-info", 0755);
  directory.make_directory("bin", 0755);
  directory.write("bad-1.0.dist-info/entry_points.txt",
                  "[console_scripts]\n../bad-1.0.dist-info/entry_points.txt = a:b\n", 0644);
  EXPECT_FALSE(installed_by_pip(directory.path(), "bad"));
}

class InstalledTree : public testing::Test {
 protected:
  InstalledTree() : tree_(directory_.make_directory("tree", 0755)) {}

  std::string copied() const {
    const auto copy = copy_tree(tree_, directory_.path() + "/copy");
    return copy ? "copied" : copy.error().text;
  }
  mode_t mode_of(const std::string& name) const {
    struct stat status{};
    EXPECT_EQ(::lstat((directory_.path() + "/copy/" + name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }

  ScratchDirectory directory_;
  std::string tree_;
};

TEST_F(InstalledTree, IsCopiedWritableByItsOwnerAlone) {
  directory_.write("tree/main.js", "x", 0666);
  directory_.write("tree/run", "x", 0777);
  directory_.make_directory("tree/bin", 0777);
  fs::create_symlink("../run", tree_ + "/bin/run");
  EXPECT_EQ(copied(), "copied");
  EXPECT_EQ(mode_of("main.js"), 0644U);
  EXPECT_EQ(mode_of("run"), 0755U);
  EXPECT_EQ(mode_of("bin"), 0755U);
  EXPECT_EQ(fs::read_symlink(directory_.path() + "/copy/bin/run"), "../run");
}

TEST_F(InstalledTree, IsRefusedWithALinkThatLeadsOut) {
  for (const auto* target : {"/etc/passwd", "../../etc/passwd", "../gone"}) {
    const auto link = tree_ + "/link";
    fs::create_symlink(target, link);
    EXPECT_THAT(copied(), HasSubstr("leads out")) << target;
    EXPECT_FALSE(fs::exists(directory_.path() + "/copy"));
    fs::remove(link);
  }
}

TEST_F(InstalledTree, IsRefusedWithALinkThatLeadsOutThroughAnother) {
  fs::create_directory_symlink("..", tree_ + "/up");
  fs::create_symlink("up/gone", tree_ + "/link");
  EXPECT_THAT(copied(), HasSubstr("leads out"));
}

TEST_F(InstalledTree, IsRefusedWhereALinkIsInItsPlace) {
  fs::rename(tree_, directory_.path() + "/elsewhere");
  fs::create_directory_symlink(directory_.path() + "/elsewhere", tree_);
  EXPECT_THAT(copied(), HasSubstr("is no directory"));
}

TEST_F(InstalledTree, IsRefusedWithASetUserIdFile) {
  directory_.write("tree/run", "x", 04755);
  EXPECT_THAT(copied(), HasSubstr("set-user-ID"));
}

TEST_F(InstalledTree, IsRefusedWithAPipe) {
  ASSERT_EQ(::mkfifo((tree_ + "/pipe").c_str(), 0644), 0);
  EXPECT_THAT(copied(), HasSubstr("no file, directory or link"));
}

TEST_F(InstalledTree, IsOpenedToAllWithoutWhatItsLinksLeadTo) {
  const auto other = directory_.write("other", "x", 0600);
  directory_.write("tree/run", "x", 0700);
  fs::create_symlink(other, tree_ + "/link");
  ASSERT_TRUE(open_to_all(tree_));
  struct stat status{};
  ASSERT_EQ(::stat(other.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  ASSERT_EQ(::stat((tree_ + "/run").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0777U);
}

TEST(Imports, GetNoVariableOfOursUnlessItIsNamed) {
  const DeclaredServer server{.name = "one",
                              .command = {"npx", "one"},
                              .variables = {{.name = "HOME", .value = "${HOME}"}}};
  const auto unnamed = imported_server(server, {.users = {"alice"}, .environment = {}});
  ASSERT_TRUE(unnamed);
  EXPECT_EQ(unnamed->declared.variables.front().value, "");
  const auto named = imported_server(server, {.users = {"alice"}, .environment = {"HOME"}});
  ASSERT_TRUE(named);
  EXPECT_NE(named->declared.variables.front().value, "");
  EXPECT_TRUE(named->declared.variables.front().secret);
}

TEST(ImportedServer, ThatIsReachedByANameHasTheRangesThatAreNamedForItAlone) {
  const ImportedAccess access{.ranges = {"10.0.0.0/8:80", "Far=192.168.0.0/16:80"}};
  const auto ranges_of = [&](const std::string& name) {
    const auto added = imported_server({.name = name, .url = "http://intranet/mcp"}, access);
    return added ? added->declared.named_ranges.for_names : std::vector<std::string>{"none"};
  };
  EXPECT_THAT(ranges_of("Far"), ElementsAre("192.168.0.0/16:80"));
  EXPECT_THAT(ranges_of("Near"), IsEmpty());
}

TEST_F(InstalledTree, IsRefusedBeyondTwoGibibytes) {
  EXPECT_TRUE(check_bounds(tree_));
  directory_.write("tree/large", "", 0644);
  fs::resize_file(tree_ + "/large", (std::uintmax_t{2} << 30) + 1);
  EXPECT_FALSE(check_bounds(tree_));
  EXPECT_THAT(copied(), HasSubstr("2 GiB"));
}

// ---- afterwards ----

TEST(AddedTable, IsMovedToAnotherVersionAndKeptOtherwise) {
  const std::string text =
      "[server.files]\ncommand = [\"/usr/bin/node\", \"/s/files/1-aa/node_modules/f/old.js\"]\n"
      "program = \"/s/files/1-aa\"  # mine\nmax_cells_per_user = 3\n";
  EXPECT_EQ(moved(text, {.from = "/s/files/1-aa",
                         .to = "/s/files/2-bb",
                         .old_script = "/s/files/1-aa/node_modules/f/old.js",
                         .new_script = "/s/files/2-bb/node_modules/f/new.js"}),
            "[server.files]\ncommand = [\"/usr/bin/node\", "
            "\"/s/files/2-bb/node_modules/f/new.js\"]\n"
            "program = \"/s/files/2-bb\"  # mine\nmax_cells_per_user = 3\n");
}

TEST(AddedTable, TakesNothingButAPathFromANewVersion) {
  const std::string text = "[server.files]\ncommand = [\"/usr/bin/node\", \"/s/1/old.js\"]\n";
  const auto changed = moved(text, {.from = "/s/1",
                                    .to = "/s/2",
                                    .old_script = "/s/1/old.js",
                                    .new_script = "/s/2/a\"]\nnetwork = \"host\"\nx = [\"b.js"});
  EXPECT_EQ(complaints_about(changed), "");
  EXPECT_THAT(changed, Not(HasSubstr("\nnetwork")));
}

TEST(AddedTable, NamesItsToolsAndTheSecretsThatAreItsOwn) {
  const std::string text =
      "[server.files.allow]\ntools = [\"a\", \"b\"]\n[server.files.env_from_file]\n"
      "MINE = \"/etc/cellblock/secrets/files.MINE\"\nSHARED = \"/etc/cellblock/secrets/shared\"\n";
  EXPECT_THAT(listed_tools(text, "files").value_or(Words{}), ElementsAre("a", "b"));
  EXPECT_THAT(secret_files_in(text, "files", "/etc/cellblock/secrets").value_or(Words{}),
              ElementsAre("/etc/cellblock/secrets/files.MINE"));
  EXPECT_THAT(listed_tools(text, "others").value_or(Words{"?"}), IsEmpty());
}

TEST(Origin, ReadsAsItWasWritten) {
  const Origin origin{.command = {"npx", "@acme/files"},
                      .package = "@acme/files",
                      .version = "1.2.3",
                      .directory = "/s/files/1.2.3-01020304",
                      .previous = "/s/files/1.2.2-05060708",
                      .runs_scripts = true,
                      .record = {.installed = "2026-11-28T08:00:00Z",
                                 .maintainers = {"alice"},
                                 .publisher = "alice",
                                 .is_signed = true},
                      .previous_record = {.installed = "2026-11-27T08:00:00Z"}};
  const auto read = read_origin(origin_text(origin));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(*read, origin);
}

TEST(Origin, IsThatOfALineWithTheSamePackageAndArguments) {
  const Origin origin{.command = {"npx", "-y", "@acme/files", "/home/alice/project"},
                      .package = "@acme/files",
                      .version = "1.2.3"};
  EXPECT_TRUE(starts_the_same(origin, {"npx", "@acme/files", "/home/alice/project"}));
  EXPECT_TRUE(starts_the_same(origin, {"npx", "@acme/files@1.2.3", "/home/alice/project"}));
  EXPECT_TRUE(starts_the_same(origin, {"bunx", "@acme/files@latest", "/home/alice/project"}));
  EXPECT_FALSE(starts_the_same(origin, {"npx", "@acme/files@1.2.4", "/home/alice/project"}));
  EXPECT_FALSE(starts_the_same(origin, {"npx", "@acme/files", "/home/alice"}));
  EXPECT_FALSE(starts_the_same(origin, {"npx", "@acme/file", "/home/alice/project"}));
  EXPECT_FALSE(starts_the_same(origin, {"node", "/home/alice/server.js"}));
}

}  // namespace
}  // namespace cellblock::cli
