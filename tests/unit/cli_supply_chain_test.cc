#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "client/cli/add/origin.h"
#include "client/cli/install/registry_report.h"
#include "client/cli/supply_chain/server_audit.h"

namespace cellblock::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Kinds = std::vector<FindingKind>;

Origin made_origin() {
  return {.command = {"npx", "@acme/files"},
          .package = "@acme/files",
          .version = "1.0.0",
          .directory = "/s/files/1.0.0-01020304",
          .record = {.installed = "2026-11-28T08:00:00Z",
                     .maintainers = {"alice", "bob"},
                     .publisher = "alice",
                     .is_signed = true}};
}

RegistryReport sound_report() {
  return {.newest = "1.0.0",
          .maintainers = {"alice", "bob"},
          .publisher = "alice",
          .newest_publisher = "alice",
          .has_keys = true,
          .packages = 2,
          .signed_packages = 2};
}

Kinds kinds_of(const RegistryReport& report, const Origin& origin = made_origin()) {
  Kinds kinds;
  for (const auto& finding : audit_of("files", origin, report).findings) {
    kinds.push_back(finding.kind);
  }
  return kinds;
}

// ---- what the cell wrote ----

TEST(RegistryReport, IsReadAsTheCellWritesIt) {
  const auto report = read_registry_report(
      R"({"newest":"1.1.0","maintainers":["alice"],"publisher":"alice","newest_publisher":"bob",)"
      R"("has_keys":true,"packages":3,"signed":1,"attested":1,"left_out":4,"findings":[)"
      R"({"kind":"unsigned","package":"a","version":"1.0.0","detail":""}]})");
  ASSERT_TRUE(report) << report.error().text;
  const RegistryReport expected{.newest = "1.1.0",
                                .maintainers = {"alice"},
                                .publisher = "alice",
                                .newest_publisher = "bob",
                                .has_keys = true,
                                .packages = 3,
                                .signed_packages = 1,
                                .attested = 1,
                                .findings = {{.kind = FindingKind::unsigned_package,
                                              .package = "a",
                                              .version = "1.0.0",
                                              .detail = {}}},
                                .left_out = 4};
  EXPECT_EQ(*report, expected);
}

TEST(RegistryReport, ThatIsNoSuchJsonIsAnError) {
  for (const char* text :
       {"", "[]", "nonsense", R"({"findings":[1]})", R"({"findings":[{"kind":"fine"}]})",
        R"({"maintainers":"alice"})", R"({"newest":1})"}) {
    EXPECT_FALSE(read_registry_report(text)) << text;
  }
}

TEST(RegistryReport, WithMoreFindingsThanACellWritesIsAnError) {
  std::string findings;
  for (int count = 0; count < 1001; ++count) {
    findings += (count == 0 ? "" : ",") + std::string(R"({"kind":"unsigned"})");
  }
  EXPECT_FALSE(read_registry_report("{\"findings\":[" + findings + "]}"));
}

// ---- at the installation ----

TEST(WrongSignature, RefusesTheInstallationAndNamesThePackage) {
  auto report = sound_report();
  EXPECT_TRUE(check_signatures(report));
  report.findings = {{.kind = FindingKind::wrong_signature,
                      .package = "left\x1b[2J",
                      .version = "1.0.0",
                      .detail = "its signature does not fit"}};
  const auto checked = check_signatures(report);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().text, HasSubstr("1.0.0 is wrong: its signature does not fit"));
  EXPECT_THAT(checked.error().text, Not(HasSubstr("\x1b")));
}

TEST(OtherArchive, ThanTheOneThatWasFetchedRefusesTheInstallation) {
  auto report = sound_report();
  report.findings = {{.kind = FindingKind::altered,
                      .package = "left",
                      .version = "1.0.0",
                      .detail = "the registry has another archive"}};
  const auto checked = check_signatures(report);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().text, HasSubstr("the archive of left 1.0.0 is wrong"));
}

TEST(NotesOfAnInstallation, SayWhatIsSignedAndWhatIsNot) {
  auto report = sound_report();
  EXPECT_THAT(notes_of(report, "the registry", "@acme/files"),
              ElementsAre("2 of 2 packages have a signature of the registry that fits"));
  report.has_keys = false;
  EXPECT_THAT(notes_of(report, "the index", "@acme/files"),
              ElementsAre("the index gives no signatures"));
  EXPECT_THAT(notes_of({}, "the registry", "x"), IsEmpty());
}

TEST(NotesOfAnInstallation, NameDeprecatedPackagesThatWereAskedForAlone) {
  auto report = sound_report();
  report.findings = {
      {.kind = FindingKind::deprecated, .package = "glob", .version = "7.0.0", .detail = "old"},
      {.kind = FindingKind::deprecated,
       .package = "@acme/files",
       .version = "1.0.0",
       .detail = "use another"}};
  EXPECT_THAT(notes_of(report, "the registry", "@acme/files"),
              Contains("@acme/files 1.0.0: is deprecated: use another"));
  EXPECT_THAT(notes_of(report, "the registry", "@acme/files"), Not(Contains(HasSubstr("glob"))));
}

// ---- an audit ----

TEST(Audit, OfWhatIsAsItWasInstalledFindsNothing) {
  EXPECT_THAT(kinds_of(sound_report()), IsEmpty());
}

TEST(Audit, FindsANewerVersion) {
  auto report = sound_report();
  report.newest = "1.1.0";
  EXPECT_THAT(kinds_of(report), ElementsAre(FindingKind::behind));
}

TEST(Audit, FindsMaintainersThatCameOrWent) {
  for (const auto& now : {std::vector<std::string>{"alice"}, {"alice", "bob", "mallory"}}) {
    auto report = sound_report();
    report.maintainers = now;
    EXPECT_THAT(kinds_of(report), ElementsAre(FindingKind::changed_hands));
  }
}

TEST(Audit, FindsAPublisherWhoWasNoMaintainer) {
  auto report = sound_report();
  report.newest_publisher = "mallory";
  EXPECT_THAT(kinds_of(report), ElementsAre(FindingKind::changed_hands));
  report.newest_publisher = "bob";
  EXPECT_THAT(kinds_of(report), IsEmpty());
}

TEST(Audit, TakesAPublisherThatIsAServiceAsItWasBefore) {
  auto origin = made_origin();
  origin.record.publisher = "CI";
  auto report = sound_report();
  report.newest_publisher = "CI";
  EXPECT_THAT(kinds_of(report, origin), IsEmpty());
}

TEST(Audit, SaysWhereNothingWasRecordedToCompareWith) {
  auto origin = made_origin();
  origin.record = {};
  const auto audit = audit_of("files", origin, sound_report());
  EXPECT_THAT(audit.findings, IsEmpty());
  EXPECT_THAT(audit.notes, Contains(HasSubstr("was not recorded when it was installed")));
}

TEST(Audit, FindsARegistryThatSignsNothingAnyMore) {
  auto report = sound_report();
  report.has_keys = false;
  EXPECT_THAT(kinds_of(report), ElementsAre(FindingKind::unsigned_package));
}

TEST(Audit, TakesDeprecatedDependenciesForNoFinding) {
  auto report = sound_report();
  report.findings = {
      {.kind = FindingKind::deprecated, .package = "glob", .version = "7.0.0", .detail = "old"}};
  const auto audit = audit_of("files", made_origin(), report);
  EXPECT_THAT(audit.findings, IsEmpty());
  EXPECT_THAT(audit.notes, Contains(HasSubstr("glob 7.0.0")));
}

TEST(Audit, OfABundleOrAProgramSaysThatThereIsNoRegistry) {
  const auto bundle = audit_without_registry("notes", {.registry = Registry::bundle});
  EXPECT_THAT(bundle.notes, ElementsAre(HasSubstr("a bundle")));
  EXPECT_THAT(audit_without_registry("own", {}).notes, ElementsAre(HasSubstr("a program")));
}

TEST(AuditText, MakesTheRegistrysWordsHarmless) {
  auto report = sound_report();
  report.findings = {{.kind = FindingKind::deprecated,
                      .package = "@acme/files",
                      .version = "1.0.0",
                      .detail = "gone\n  fine \x1b[2J"}};
  const auto text = audit_text(audit_of("files", made_origin(), report));
  EXPECT_THAT(text, HasSubstr("files  @acme/files 1.0.0\n  deprecated       @acme/files 1.0.0: "));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\n  fine")));
}

TEST(AuditJson, HasAllServersWithTheirFindings) {
  auto report = sound_report();
  report.newest = "1.1.0";
  const auto json = audit_json({audit_of("files", made_origin(), report)});
  EXPECT_THAT(json, HasSubstr(R"({"servers":[{"server":"files","package":"@acme/files")"));
  EXPECT_THAT(json, HasSubstr(R"("findings":[{"kind":"behind",)"));
}

}  // namespace
}  // namespace cellblock::cli
