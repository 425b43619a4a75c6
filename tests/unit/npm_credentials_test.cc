#include "client/cli/install/npm_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/cli/install/npm_settings.h"

namespace cellblock::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

std::string look_up(const std::string& name) { return name == "TOKEN" ? "from-environment" : ""; }

std::vector<NpmrcEntry> entries_of(const std::string& text) { return read_npmrc(text, look_up); }

std::string lines_for(const std::string& text, const std::string& registry) {
  return credential_lines(entries_of(text), registry).value_or("error");
}

std::string mistake_in(const std::string& text, const std::string& registry) {
  const auto lines = credential_lines(entries_of(text), registry);
  return lines ? "none" : lines.error().text;
}

TEST(Npmrc, IsReadWithoutCommentsBlanksAndQuotes) {
  const auto entries = entries_of("; a = b\n# c = d\n  key = \"value\" \r\nbare\nlast=x");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].key, "key");
  EXPECT_EQ(entries[0].value, "value");
  EXPECT_EQ(entries[1].value, "x");
}

TEST(Npmrc, HasVariablesOfTheEnvironmentFilledIn) {
  EXPECT_EQ(entries_of("a=${TOKEN}")[0].value, "from-environment");
  EXPECT_EQ(entries_of("a=${GONE}")[0].value, "${GONE}");
  EXPECT_EQ(entries_of("a=${TOKEN")[0].value, "${TOKEN");
}

TEST(Credentials, AreThoseOfTheRegistryAndOfWhatIsAboveIt) {
  const std::string text =
      "//host.example.org/:_authToken=top\n//host.example.org/npm/:_authToken=own\n"
      "//host.example.org/npmx/:_authToken=neighbour\n//other.example.org/:_authToken=other\n"
      "//host.example.org:8443/:_authToken=port\n";
  EXPECT_EQ(lines_for(text, "https://host.example.org/npm"),
            "//host.example.org/:_authToken=top\n//host.example.org/npm/:_authToken=own\n");
  EXPECT_EQ(lines_for(text, "https://host.example.org:8443/"),
            "//host.example.org:8443/:_authToken=port\n");
  EXPECT_EQ(lines_for(text, "https://third.example.org/"), "");
}

TEST(Credentials, AreForNoHostThatOnlyBeginsAlike) {
  EXPECT_EQ(
      lines_for("//host.example/:_authToken=x\n//:_authToken=y\n", "https://host.example.org/"),
      "");
}

TEST(Credentials, AreAUserAndPasswordAsWell) {
  EXPECT_EQ(lines_for("//h.org/:username=me\n//h.org/:_password=cGFzcw==\n//h.org/:email=x\n",
                      "https://h.org/"),
            "//h.org/:username=me\n//h.org/:_password=cGFzcw==\n");
}

TEST(Credentials, AreRefusedWithoutTheirVariableAndWithWhatNoTokenHas) {
  EXPECT_THAT(mistake_in("//h.org/:_authToken=${GONE}", "https://h.org/"),
              HasSubstr("${GONE}, and your environment has no such variable"));
  const auto mistake = mistake_in("//h.org/:_authToken=hush \"x", "https://h.org/");
  EXPECT_THAT(mistake, HasSubstr("characters that no token has"));
  EXPECT_THAT(mistake, Not(HasSubstr("hush")));
}

TEST(Scopes, HaveTheirRegistriesButForThoseWithAPassword) {
  EXPECT_EQ(scope_lines(entries_of("@a:registry=https://a.org/\n@b:registry=https://x:y@b.org/\n"
                                   "registry=https://c.org/\n")),
            "@a:registry=https://a.org/\n");
}

PackageInstaller installer_with(const std::string& credentials) {
  const auto installer = npm_installer({.node = "/usr/bin/node",
                                        .npm = "/usr/lib/npm.js",
                                        .registry = "https://127.0.0.1:4873/",
                                        .others = "https://127.0.0.1:4874/",
                                        .credentials = credentials});
  EXPECT_TRUE(installer.has_value());
  return installer.value_or(PackageInstaller{});
}

TEST(NpmInstaller, ReachesTheRegistryOfTheScopeAndTheOneOfAllOtherPackages) {
  const auto installer = installer_with("");
  EXPECT_THAT(installer.egress, Contains("127.0.0.1/32:4873"));
  EXPECT_THAT(installer.egress, Contains("127.0.0.1/32:4874"));
  EXPECT_THAT(installer.variables,
              Contains(Pair("npm_config_registry", "https://127.0.0.1:4874/")));
}

TEST(NpmInstaller, HandsATokenOverAsASecretFileAndInNoVariable) {
  const auto installer = installer_with("//127.0.0.1:4873/:_authToken=hush\n");
  EXPECT_THAT(installer.secrets,
              Contains(Pair("NPM_CREDENTIALS", "//127.0.0.1:4873/:_authToken=hush\n")));
  EXPECT_THAT(installer.variables,
              Contains(Pair("npm_config_userconfig", "/run/secrets/NPM_CREDENTIALS")));
  EXPECT_THAT(installer.variables, Not(Contains(Pair(testing::_, HasSubstr("hush")))));
  EXPECT_THAT(installer_with("").secrets, IsEmpty());
}

// npm runs what a repository's .npmrc calls its git, whatever --ignore-scripts says.
TEST(NpmInstaller, FetchesNothingByGit) {
  EXPECT_THAT(installer_with("").variables, Contains(Pair("npm_config_git", "/nowhere/git")));
}

}  // namespace
}  // namespace cellblock::cli
