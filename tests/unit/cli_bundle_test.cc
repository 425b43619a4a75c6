// A bundle, or a registry's server.json, as a server in a cell: what it asks for, and what it is
// told.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/add/add_request.h"
#include "client/cli/add/added_proposal.h"
#include "client/cli/add/bundle_manifest.h"
#include "client/cli/add/described_file.h"
#include "client/cli/import/propose/configured_bundle.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/read/bundle_settings.h"
#include "client/cli/import/read/input_json.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::cli {
namespace {

using Words = std::vector<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const SettingPlaces places{.home = "/home/alice", .directory = "/home/alice/work"};

constexpr const char* asking = R"({"user_config": {
  "key": {"type": "string", "title": "API key", "sensitive": true, "required": true},
  "size": {"type": "number", "default": 5, "min": 1, "max": 9},
  "deep": {"type": "boolean", "default": false},
  "roots": {"type": "directory", "multiple": true, "default": ["${HOME}/notes", "~"]},
  "colour": {"type": "string"}}})";

std::vector<BundleSetting> settings_in(const char* manifest) {
  const auto document = json_of_json(manifest);
  const auto settings =
      document ? bundle_settings(*document) : Result<std::vector<BundleSetting>>(fail("no JSON"));
  EXPECT_TRUE(settings.has_value()) << settings.error().text;
  return settings.value_or(std::vector<BundleSetting>{});
}

SettingValues values_of(const Words& given) {
  const auto values = setting_values(settings_in(asking), given, places);
  EXPECT_TRUE(values.has_value()) << values.error().text;
  return values.value_or(SettingValues{});
}

std::string mistake_of(const Words& given) {
  const auto values = setting_values(settings_in(asking), given, places);
  return values ? "none" : values.error().text;
}

TEST(BundleSettings, HaveTheirDefaultsWithPlacesInTheHomeOfTheUser) {
  const auto values = values_of({});
  EXPECT_THAT(values.at("size"), ElementsAre("5"));
  EXPECT_THAT(values.at("deep"), ElementsAre("false"));
  EXPECT_THAT(values.at("roots"), ElementsAre("/home/alice/notes", "/home/alice"));
  EXPECT_FALSE(values.contains("colour"));
}

TEST(BundleSettings, TakePathsWholeAndOtherTextAsItIs) {
  const auto values = values_of({"roots=a/../b/", "roots=~/c", "colour=~/red"});
  EXPECT_THAT(values.at("roots"), ElementsAre("/home/alice/work/b", "/home/alice/c"));
  EXPECT_THAT(values.at("colour"), ElementsAre("~/red"));
}

TEST(BundleSettings, RefuseWhatTheyDoNotTake) {
  EXPECT_THAT(mistake_of({"size=10"}), HasSubstr("a number from 1 to 9"));
  EXPECT_THAT(mistake_of({"size=five"}), HasSubstr("a number"));
  EXPECT_THAT(mistake_of({"deep=yes"}), HasSubstr("true or false"));
  EXPECT_THAT(mistake_of({"size=1", "size=2"}), HasSubstr("takes one value"));
  EXPECT_THAT(mistake_of({"other=1"}), HasSubstr("it asks for key, size, deep, roots, colour"));
  EXPECT_THAT(mistake_of({"colour=a\nb"}), HasSubstr("one line"));
  EXPECT_THAT(mistake_of({"roots="}), HasSubstr("allowed: a path"));
}

TEST(BundleSettings, TakeNoEmptyDefaultForADirectory) {
  const auto settings = settings_in(
      R"({"user_config": {"d": {"type": "directory", "default": "", "required": true}}})");
  const auto values = setting_values(settings, {}, places);
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(missing_settings(settings, *values), SizeIs(1));
}

TEST(BundleSettings, AreMissingWhereTheyAreRequiredAndHaveNoValueOrAnEmptyOne) {
  const auto settings = settings_in(asking);
  EXPECT_THAT(missing_settings(settings, values_of({})), SizeIs(1));
  EXPECT_THAT(missing_settings(settings, values_of({"key="})), SizeIs(1));
  EXPECT_THAT(missing_settings(settings, values_of({"key=x"})), IsEmpty());
}

TEST(BundleSettings, OfAnUnknownTypeOrWithoutEndAreAnError) {
  EXPECT_FALSE(bundle_settings(*json_of_json(R"({"user_config": {"a": {"type": "date"}}})")));
  auto many = nlohmann::ordered_json::object();
  for (int at = 0; at < 65; ++at) many[std::to_string(at)] = {{"type", "string"}};
  EXPECT_FALSE(bundle_settings({{"user_config", many}}));
}

DeclaredServer server_with(const Words& command, std::vector<DeclaredVariable> variables = {}) {
  return {.name = "notes", .command = command, .variables = std::move(variables)};
}

TEST(BundleServer, HasAListOfValuesAsWordsOfItsCommand) {
  const auto server =
      with_settings(server_with({"node", "${user_config.roots}", "--size=${user_config.size}"}),
                    settings_in(asking), values_of({"roots=/a", "roots=/b"}));
  ASSERT_TRUE(server.has_value());
  EXPECT_THAT(server->command, ElementsAre("node", "/a", "/b", "--size=5"));
}

TEST(BundleServer, TakesAValueThatLooksLikeAPlaceholderForWhatItIs) {
  const auto server = with_settings(server_with({"node", "-${user_config.colour}-"}),
                                    settings_in(asking), values_of({"colour=${user_config.size}"}));
  ASSERT_TRUE(server.has_value());
  EXPECT_THAT(server->command, ElementsAre("node", "-${user_config.size}-"));
}

TEST(BundleServer, HasVariablesWithASecretInThemAsSecretsAndNoneWithoutAValue) {
  const auto server =
      with_settings(server_with({"node"}, {{.name = "AUTH", .value = "Bearer ${user_config.key}"},
                                           {.name = "COLOUR", .value = "${user_config.colour}"},
                                           {.name = "PLACE", .value = "${DOCUMENTS}/x"}}),
                    settings_in(asking), values_of({"key=hush"}));
  ASSERT_TRUE(server.has_value());
  ASSERT_THAT(server->variables, SizeIs(1));
  EXPECT_EQ(server->variables.front().value, "Bearer hush");
  EXPECT_TRUE(server->variables.front().secret);
  EXPECT_THAT(server->unheeded,
              ElementsAre("the variable COLOUR (no --set colour)",
                          "the variable PLACE (it is left to another kind of host)"));
}

TEST(BundleServer, HasNoSecretAndNothingWithoutAValueInItsCommand) {
  for (const char* word : {"${user_config.key}", "--colour=${user_config.colour}"}) {
    EXPECT_FALSE(
        with_settings(server_with({"node", word}), settings_in(asking), values_of({"key=hush"})));
  }
}

std::string manifest_with(const std::string& version, const std::string& command,
                          const std::string& more = "") {
  return R"({"manifest_version": "0.3", "name": "notes", "version": ")" + version +
         R"(", "server": {"type": "node", "mcp_config": {"command": ")" + command +
         R"(", "args": ["${__dirname}/main.js", "x"]}})" + more + "}";
}

std::string refusal_of(const std::string& text) {
  const auto manifest = read_bundle_manifest(text, "/x.mcpb");
  return manifest ? "none" : manifest.error().text;
}

TEST(BundleManifest, NamesItsVersionAndItsScript) {
  const auto manifest = read_bundle_manifest(manifest_with("1.2.3", "node"), "/x.mcpb");
  ASSERT_TRUE(manifest.has_value()) << manifest.error().text;
  EXPECT_EQ(manifest->version, "1.2.3");
  EXPECT_EQ(script_of(*manifest, "/opt/notes"), "/opt/notes/main.js");
}

// What an update would put in the place of the old one, wherever that stands in a declaration.
TEST(BundleManifest, HasNoScriptOutsideOfItself) {
  for (const char* word : {"", "/", "/../other/main.js", "/a/../../../etc/secret", "//main.js"}) {
    auto manifest = read_bundle_manifest(manifest_with("1.2.3", "node"), "/x.mcpb");
    ASSERT_TRUE(manifest.has_value()) << manifest.error().text;
    manifest->server.command = {"node", std::string("${__dirname}") + word};
    EXPECT_EQ(script_of(*manifest, "/opt/notes"), "") << word;
  }
}

TEST(BundleManifest, IsRefusedWhereItCannotBeUsedHere) {
  EXPECT_THAT(refusal_of(manifest_with("../x", "node")), HasSubstr("no version"));
  EXPECT_THAT(refusal_of(manifest_with("1.0.0", "npx")), HasSubstr("which fetches a program"));
  EXPECT_THAT(
      refusal_of(manifest_with("1.0.0", "node", R"(, "compatibility": {"platforms": ["darwin"]})")),
      HasSubstr("does not name linux"));
  EXPECT_THAT(refusal_of(R"({"name": "x", "version": "1.0.0", "server": {"type": "uv"}})"),
              HasSubstr("at each start"));
}

TEST(BundleManifest, IsAnotherWhereTheTreeHasAnother) {
  const ScratchDirectory tree;
  tree.write("manifest.json", "{}", 0644);
  EXPECT_TRUE(check_same_manifest(tree.path(), "{}").has_value());
  EXPECT_FALSE(check_same_manifest(tree.path(), "{ }").has_value());
}

TEST(Bundle, IsStartedInItsOwnDirectoryAndNeedsNothingElse) {
  const auto manifest = read_bundle_manifest(manifest_with("1.2.3", "node"), "/x.mcpb");
  ASSERT_TRUE(manifest.has_value());
  const AddedServer added{.declared = manifest->server, .users = {"alice"}};
  const MachineView machine{
      .kind_of = [](const std::string&) { return PathKind::absent; },
      .find_program = [](const std::string& name) { return "/usr/bin/" + name; },
      .installed = [](const std::string&,
                      const PackageName&) { return std::optional<InstalledPackage>(); }};
  const auto proposal = added_proposal(added, std::nullopt, machine,
                                       {.secrets = "/s", .installed = "/root/servers/notes/1.2.3"});
  ASSERT_TRUE(proposal.has_value()) << proposal.error().text;
  EXPECT_THAT(proposal->command,
              ElementsAre("/usr/bin/node", "/root/servers/notes/1.2.3/main.js", "x"));
  EXPECT_EQ(proposal->program, "/root/servers/notes/1.2.3");
  EXPECT_THAT(proposal->read, IsEmpty());
}

constexpr const char* described = R"({"name": "org.example/notes", "packages": [{
  "registryType": "npm", "identifier": "made", "version": "1.0.0",
  "packageArguments": [{"type": "positional", "valueHint": "root", "isRequired": true}],
  "environmentVariables": [{"name": "TOKEN", "isRequired": true, "isSecret": true}]}]})";

TEST(DescribedFile, IsOneFileOfJsonOrAnArchive) {
  const ScratchDirectory place;
  const auto json = place.write("server.json", "{}", 0644);
  const auto archive = place.write("x.mcpb", "PK\x03\x04", 0644);
  const auto program = place.write("run", "#!/bin/sh", 0755);
  EXPECT_TRUE(is_described_file({json}));
  EXPECT_TRUE(is_described_file({archive}));
  EXPECT_FALSE(is_described_file({program}));
  EXPECT_FALSE(is_described_file({json, "x"}));
  EXPECT_FALSE(is_described_file({place.path() + "/gone.json"}));
}

TEST(DescribedFile, BecomesTheLineOfItsPackageWithWhatWasGiven) {
  const ScratchDirectory place;
  const auto server = described_server({.path = place.write("server.json", described, 0644),
                                        .given = {"root=/notes"},
                                        .variables = {{.name = "TOKEN", .value = "hush"}}});
  ASSERT_TRUE(server.has_value()) << server.error().text;
  EXPECT_THAT(server->command, ElementsAre("npx", "-y", "made@1.0.0", "/notes"));
  EXPECT_EQ(server->variables.at(0).value, "hush");
  EXPECT_TRUE(server->variables.at(0).secret);
}

TEST(DescribedFile, HasAPersonAskedForWhatIsMissing) {
  const ScratchDirectory place;
  const auto path = place.write("server.json", described, 0644);
  Words asked;
  const auto server = described_server({.path = path, .ask = [&](const BundleSetting& setting) {
                                          asked.push_back(setting.key);
                                          return std::optional<std::string>("typed");
                                        }});
  ASSERT_TRUE(server.has_value());
  EXPECT_THAT(asked, ElementsAre("root", "TOKEN"));
  EXPECT_THAT(described_server({.path = path}).error().text,
              HasSubstr("its command needs root: --set root=VALUE"));
}

TEST(DescribedFile, GetsNoVariableOfOursForAHeaderAndNoPrivateAddressUnlessTheyAreNamed) {
  ::setenv("CELLBLOCK_TEST_SECRET", "hush", 1);  // NOLINT(concurrency-mt-unsafe)
  const ScratchDirectory place;
  const AddPlaces user{.mode = Mode::user};
  const auto file_with = [&](const std::string& name, const std::string& header) {
    return place.write(name,
                       R"({"name": "org.example/x", "packages": [{"registryType": "npm",
      "identifier": "mcp-remote", "version": "1.0.0", "packageArguments": [
      {"type": "positional", "value": "https://10.1.2.3/mcp"})" +
                           header + "]}]}",
                       0644);
  };
  const auto open =
      added_server({.server = "x", .command = {file_with("open.json", R"(, {"type": "positional",
        "value": "--header"}, {"type": "positional", "value": "X: ${CELLBLOCK_TEST_SECRET}"})")}},
                   user);
  ASSERT_FALSE(open.has_value());
  EXPECT_THAT(open.error().text, HasSubstr("it needs CELLBLOCK_TEST_SECRET: --env"));
  const auto plain = file_with("plain.json", "");
  EXPECT_FALSE(added_server({.server = "x", .command = {plain}}, user));
  const auto named =
      added_server({.server = "x", .command = {plain}, .egress = {"10.1.2.3/32:443"}}, user);
  ASSERT_TRUE(named.has_value());
  EXPECT_TRUE(named->is_described) << "so that consent comes before its first start";
}

// Whoever answers at its address could get a token that is meant for the other host.
TEST(DescribedFile, NamesNoOtherHostThanItsAddress) {
  const ScratchDirectory place;
  const auto server_of = [&](const std::string& resource) {
    const auto file = place.write("for-" + resource + ".json",
                                  R"({"name": "org.example/x", "packages": [{"registryType": "npm",
      "identifier": "mcp-remote", "version": "1.0.0", "packageArguments": [
      {"type": "positional", "value": "https://mcp.example.org/mcp"},
      {"type": "named", "name": "--resource", "value": "https://)" +
                                      resource + R"(/mcp"}]}]})",
                                  0644);
    return added_server({.server = "x", .command = {file}}, {.mode = Mode::user});
  };
  EXPECT_TRUE(server_of("mcp.example.org"));
  const auto other = server_of("other.example.org");
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().text, HasSubstr("--resource names another host than its address"));
}

TEST(DescribedFile, OfPyPiIsALineOfUvx) {
  const auto server = as_package_line(
      {.command = {"--all"},
       .package = PackageName{.registry = Registry::pypi, .name = "x", .version = "1.0"}});
  ASSERT_TRUE(server.has_value());
  EXPECT_THAT(server->command, ElementsAre("uvx", "x==1.0", "--all"));
}

}  // namespace
}  // namespace cellblock::cli
