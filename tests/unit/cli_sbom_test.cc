#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/add/origin.h"
#include "client/cli/supply_chain/bom.h"
#include "client/cli/supply_chain/installed_bom.h"
#include "client/cli/supply_chain/licence.h"
#include "client/cli/supply_chain/npm_bom.h"
#include "client/cli/supply_chain/wheel_bom.h"

namespace cellblock::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::ordered_json;
using Purls = std::vector<std::string>;

NpmTree tree_with_all() {
  return {.is_there = [](const std::string&) { return true; },
          .licence = [](const std::string&) { return std::string(); }};
}

std::vector<BomComponent> components_of(const Json& packages) {
  return npm_components(Json{{"packages", packages}}, tree_with_all())
      .value_or(std::vector<BomComponent>{});
}

Purls purls_of(const std::vector<BomComponent>& components) {
  Purls purls;
  for (const auto& component : components) purls.push_back(component.purl);
  return purls;
}

// ---- licences ----

TEST(Licence, IsAnIdentifierAnExpressionOrWords) {
  EXPECT_EQ(licence_of("MIT").kind, LicenceKind::identifier);
  EXPECT_EQ(licence_of("(MIT OR (ISC AND 0BSD))").kind, LicenceKind::expression);
  for (const char* text : {"", "UNLICENSED", "MIT OR", "OR MIT", "MIT Apache-2.0", "(MIT OR ISC",
                           "MIT) OR (ISC", "MIT License", "SEE LICENSE IN LICENSE"}) {
    EXPECT_EQ(licence_of(text).kind, LicenceKind::words) << text;
  }
}

TEST(Licence, OfAWholeTextIsItsFirstLine) {
  EXPECT_EQ(licence_of("Made Licence\n\nPermission is granted").text, "Made Licence");
  EXPECT_EQ(licence_of(std::string(500, 'x')).text.size(), 200U);
}

// ---- npm ----

TEST(NpmComponents, AreTheInstalledPackagesOfTheLockFile) {
  const Json lock{{"packages",
                   {{"", {{"dependencies", {{"a", "1.0.0"}}}}},
                    {"node_modules/a", {{"version", "1.0.0"}}},
                    {"node_modules/for-another-system", {{"version", "1.0.0"}}},
                    {"node_modules/linked", {{"link", true}}}}}};
  auto tree = tree_with_all();
  tree.is_there = [](const std::string& place) {
    return place != "node_modules/for-another-system";
  };
  const auto components = npm_components(lock, tree);
  ASSERT_TRUE(components);
  EXPECT_THAT(purls_of(*components), ElementsAre("pkg:npm/a@1.0.0"));
}

TEST(NpmComponents, NeedWhatNodeWouldFindForThem) {
  const auto components =
      components_of({{"node_modules/a", {{"version", "1.0.0"}, {"dependencies", {{"b", "2"}}}}},
                     {"node_modules/a/node_modules/b", {{"version", "2.0.0"}}},
                     {"node_modules/b", {{"version", "1.0.0"}, {"dependencies", {{"c", "*"}}}}}});
  ASSERT_EQ(components.size(), 3U);
  EXPECT_THAT(components[0].dependencies, ElementsAre("pkg:npm/b@2.0.0"));
  EXPECT_THAT(components[1].dependencies, IsEmpty());
}

TEST(NpmComponents, OfOneVersionInTwoPlacesAreOneThatNeedsWhatBothDo) {
  const Json twice{{"version", "1.0.0"}, {"dependencies", {{"c", "*"}}}};
  const auto components =
      components_of({{"node_modules/b", twice},
                     {"node_modules/c", {{"version", "1.0.0"}}},
                     {"node_modules/a", {{"version", "1.0.0"}}},
                     {"node_modules/a/node_modules/b", twice},
                     {"node_modules/a/node_modules/c", {{"version", "2.0.0"}}}});
  EXPECT_THAT(purls_of(components), ElementsAre("pkg:npm/a@1.0.0", "pkg:npm/b@1.0.0",
                                                "pkg:npm/c@1.0.0", "pkg:npm/c@2.0.0"));
  EXPECT_THAT(components[1].dependencies, ElementsAre("pkg:npm/c@1.0.0", "pkg:npm/c@2.0.0"));
}

TEST(NpmComponents, HaveNoAddressWithAPasswordOrOtherThanOfTheWeb) {
  const auto source = [](const char* resolved) {
    return components_of({{"node_modules/a", {{"version", "1.0.0"}, {"resolved", resolved}}}})
        .front()
        .source;
  };
  EXPECT_EQ(source("https://registry.example.org/@acme/a/-/a.tgz"),
            "https://registry.example.org/@acme/a/-/a.tgz");
  EXPECT_EQ(source("https://user:hush@registry.example.org/a.tgz"), "");
  EXPECT_EQ(source("file:///home/alice/a.tgz"), "");
  EXPECT_EQ(source("https://registry.example.org/a b"), "");
}

TEST(NpmComponents, OfALockFileWithoutPackagesAreAnError) {
  EXPECT_FALSE(npm_components(Json::object(), tree_with_all()));
  EXPECT_FALSE(npm_components(Json{{"packages", Json::array({1})}}, tree_with_all()));
}

TEST(IntegrityHashes, AreThoseThatHaveTheirLength) {
  const std::string zeros = "AAAAAAAAAAAAAAAAAAAAAAAAAAA=";  // 20 bytes
  EXPECT_THAT(integrity_hashes("sha1-" + zeros),
              ElementsAre(BomHash{.algorithm = "SHA-1", .digits = std::string(40, '0')}));
  EXPECT_THAT(integrity_hashes("sha512-" + zeros + " md5-AA== nonsense sha256-!!"), IsEmpty());
}

// ---- PyPI ----

TEST(WheelComponents, HaveTheHashOfTheLockFileAndTheLicenceOfTheMetadata) {
  const std::string hash(64, 'a');
  const auto components = wheel_components(
      "Made_Server==1.0.0 --hash=sha256:" + hash + "\nlib==2.0 --hash=\n# nothing\n",
      [](const std::string& name, const std::string&) {
        return name == "lib" ? std::string("Name: lib\n\nLicense: of the description\n")
                             : std::string(
                                   "License: BSD\n  with a second line\n"
                                   "Requires-Dist: Lib>=1 ; python_version > \"3\"\n"
                                   "Requires-Dist: other; extra == \"x\"\n");
      });
  ASSERT_TRUE(components);
  ASSERT_EQ(components->size(), 2U);
  EXPECT_EQ((*components)[0].purl, "pkg:pypi/made-server@1.0.0");
  EXPECT_THAT((*components)[0].hashes,
              ElementsAre(BomHash{.algorithm = "SHA-256", .digits = hash}));
  EXPECT_EQ((*components)[0].licence, "BSD");
  EXPECT_THAT((*components)[0].dependencies, ElementsAre("pkg:pypi/lib@2.0"));
  EXPECT_EQ((*components)[1].licence, "");
  EXPECT_THAT((*components)[1].hashes, IsEmpty());
}

// ---- the document ----

TEST(PackageUrl, EncodesWhatIsNoPlainPart) {
  EXPECT_EQ(package_url("npm", "@acme/files", "1.0.0+b"), "pkg:npm/%40acme/files@1.0.0%2Bb");
  EXPECT_EQ(package_url("oci", "time", "sha256:ab"), "pkg:oci/time@sha256%3Aab");
}

Bom made_bom() {
  Bom bom;
  bom.server.name = "made";
  bom.server.version = "1.0.0";
  bom.server.purl = "pkg:npm/made@1.0.0";
  bom.installed = "2026-11-28T08:00:00Z";
  for (const char* name : {"b", "a"}) {
    BomComponent component;
    component.name = name;
    component.purl = package_url("npm", name, "1.0.0");
    bom.components.push_back(component);
  }
  return bom;
}

TEST(BomJson, IsTheSameInWhateverOrderThePackagesCome) {
  auto other = made_bom();
  std::swap(other.components[0], other.components[1]);
  EXPECT_EQ(bom_json(made_bom()), bom_json(other));
  other.components.pop_back();
  EXPECT_NE(Json::parse(bom_json(made_bom()))["serialNumber"],
            Json::parse(bom_json(other))["serialNumber"]);
}

TEST(BomJson, LeavesOutTheTimeWhereNoneWasRecorded) {
  auto bom = made_bom();
  bom.installed.clear();
  EXPECT_THAT(bom_json(bom), Not(HasSubstr("timestamp")));
  EXPECT_THAT(bom_json(made_bom()), HasSubstr("\"timestamp\": \"2026-11-28T08:00:00Z\""));
}

TEST(InstalledBom, OfAProgramThatWasThereAlreadyIsAnError) {
  const auto bom = installed_bom(Origin{.command = {"node", "/srv/server.js"}});
  ASSERT_FALSE(bom);
  EXPECT_THAT(bom.error().text, HasSubstr("nothing was installed for it"));
}

}  // namespace
}  // namespace cellblock::cli
