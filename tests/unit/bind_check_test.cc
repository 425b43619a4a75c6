// What declared paths are judged by: their text, what is found there, and who could change that.

#include "policy/config_check/bind_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "policy/config/path_rules.h"
#include "policy/config_check/config_check.h"

namespace cellblock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* by_alice = "the directory /ws/alice is owned by uid 1001";

HostFacts facts_with(const std::string& path, SourceFacts source) {
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 4096;
  facts.landlock_abi = 7;
  facts.cgroup.missing_because = "no group was delegated";
  facts.users = {{"cellblock", {990, 991}}, {"alice", {1001, 1001}}};
  facts.groups = {{"cellblock", 991}};
  for (const char* known : {"/srv", "/srv/rw"}) {
    facts.sources[known] = {PathKind::directory, known};
  }
  facts.sources[path] = std::move(source);
  return facts;
}

struct Checked {
  Config config;
  std::vector<Complaint> all;

  std::string said(Complaint::Severity severity) const {
    std::string text;
    for (const Complaint& complaint : all) {
      if (complaint.severity == severity) text += to_line(complaint) + "\n";
    }
    return text;
  }
  std::string errors() const { return said(Complaint::Severity::error); }
  std::string broken() const { return said(Complaint::Severity::broken); }
  const PathFindings& found() const { return config.servers.at(0).found; }
};

Checked check(const std::string& lines, const HostFacts& facts) {
  const std::string text =
      "[server.s]\ncommand = [\"/usr/bin/node\"]\nallow = { users = [\"alice\"], tools = [\"t\"] "
      "}\n" +
      lines + "\n";
  Complaints complaints;
  const std::vector<ConfigText> texts{
      parse_config_text(text, "c.toml", FileRole::main, complaints)};
  Checked checked;
  checked.config = check_config({RunMode::system, {}, texts}, facts, complaints);
  checked.all = complaints.take_sorted();
  return checked;
}

constexpr const char* writes = "write = [\"/ws/alice/p\"]";

// --- who could change it decides whether cells go on ---------------------------------------------

TEST(BindCheck, APathThatOnlyRootCanChangeLeavesItsServerOutWhereItIsMissing) {
  const Checked checked = check(writes, facts_with("/ws/alice/p", {}));
  EXPECT_EQ(checked.errors(), "");
  EXPECT_THAT(checked.broken(), HasSubstr("does not exist"));
  EXPECT_FALSE(checked.config.servers.at(0).is_usable());
  EXPECT_EQ(checked.found(), PathFindings{});
}

TEST(BindCheck, APathOfAUsersBreaksItsServerAloneWhereItIsMissing) {
  const Checked checked =
      check(writes, facts_with("/ws/alice/p", {PathKind::missing, "", by_alice}));
  EXPECT_EQ(checked.errors(), "");
  EXPECT_THAT(checked.broken(), HasSubstr("this server will not start (the directory /ws/alice "
                                          "is owned by uid 1001); put it right, then run "
                                          "\"cellblock reload\""));
  EXPECT_EQ(checked.found(), (PathFindings{true, "write \"/ws/alice/p\" does not exist"}));
}

TEST(BindCheck, APathThatDoesNotAnswerBreaksItsServerAloneAndIsNotToBeTouched) {
  SourceFacts silent{PathKind::missing, "", "its file system lets whoever asks it wait"};
  silent.is_unanswered = true;
  const Checked checked = check(writes, facts_with("/ws/alice/p", silent));
  EXPECT_EQ(checked.errors(), "");
  EXPECT_THAT(checked.broken(), HasSubstr("does not answer within 2 s"));
  EXPECT_TRUE(checked.found().is_unanswered);
  EXPECT_THAT(checked.found().broken, HasSubstr("does not answer within 2 s"));
}

TEST(BindCheck, APathOfAUsersBreaksItsServerAloneWhereItLeadsToAForbiddenPlace) {
  const Checked checked =
      check(writes, facts_with("/ws/alice/p", {PathKind::directory, "/etc", by_alice}));
  EXPECT_EQ(checked.errors(), "");
  EXPECT_THAT(checked.found().broken, HasSubstr("leads to /etc"));
}

TEST(BindCheck, APathOfAUsersBreaksItsServerAloneWhereItIsALink) {
  const Checked checked =
      check(writes, facts_with("/ws/alice/p", {PathKind::directory, "/usr", by_alice}));
  EXPECT_EQ(checked.errors(), "");
  EXPECT_THAT(checked.found().broken, HasSubstr("is reached through a symbolic link"));
}

TEST(BindCheck, APathOfAUsersBreaksItsServerAloneWhereItIsASocket) {
  const Checked checked =
      check(writes, facts_with("/ws/alice/p", {PathKind::other, "/ws/alice/p", by_alice}));
  EXPECT_EQ(checked.errors(), "");
  EXPECT_THAT(checked.found().broken, HasSubstr("a device, a socket or a pipe"));
}

TEST(BindCheck, APathOfAUsersThatIsThereIsUsed) {
  const Checked checked =
      check(writes, facts_with("/ws/alice/p", {PathKind::directory, "/ws/alice/p", by_alice}));
  EXPECT_THAT(checked.all, IsEmpty());
  EXPECT_EQ(checked.found(), (PathFindings{true, ""}));
}

TEST(BindCheck, APathThatACellCanMoveBreaksItsServerAlone) {
  const Checked checked =
      check("write = [\"/srv/rw\"]\nread = [\"/srv/rw/a/ro\"]", facts_with("/srv/rw/a/ro", {}));
  EXPECT_EQ(checked.errors(), "");
  EXPECT_THAT(checked.broken(), HasSubstr("cells can write in /srv/rw"));
  EXPECT_THAT(checked.found().broken, HasSubstr("/srv/rw/a/ro"));
}

TEST(BindCheck, WhatTheTextForbidsStaysAnErrorWhoeverCouldChangeTheDisk) {
  const Checked checked = check("read = [\"/proc/1\"]",
                                facts_with("/proc/1", {PathKind::directory, "/proc/1", by_alice}));
  EXPECT_THAT(checked.errors(), HasSubstr("/proc"));
}

// --- what must not be renamed --------------------------------------------------------------------

Bind writable(const char* source, const char* target) { return {source, target, Access::write}; }
Bind readable(const char* source, const char* target) { return {source, target, Access::read}; }

TEST(HeldDirectories, AreThoseBetweenAReadPathAndTheWritePathAroundIt) {
  const std::vector binds{writable("/srv/rw", "/data"), readable("/srv/rw/a/b/ro", "/data/a/b/ro")};
  EXPECT_THAT(held_directories(binds),
              ElementsAre(writable("/srv/rw/a", "/data/a"), writable("/srv/rw/a/b", "/data/a/b")));
}

TEST(HeldDirectories, AreNoneRightBelowTheWritePath) {
  const std::vector binds{writable("/srv/rw", "/data"), readable("/srv/rw/ro", "/data/ro")};
  EXPECT_THAT(held_directories(binds), IsEmpty());
}

TEST(HeldDirectories, AreNoneWithoutAWritePathAround) {
  const std::vector binds{readable("/srv", "/data"), readable("/opt/ro", "/data/a/ro"),
                          writable("/srv/rw", "/other")};
  EXPECT_THAT(held_directories(binds), IsEmpty());
}

TEST(HeldDirectories, AreThereOnceForSeveralReadPaths) {
  const std::vector binds{writable("/srv/rw", "/data"), readable("/x", "/data/a/one"),
                          readable("/y", "/data/a/two")};
  EXPECT_THAT(held_directories(binds), ElementsAre(writable("/srv/rw/a", "/data/a")));
}

// --- files in the home ---------------------------------------------------------------------------

TEST(BindCheck, AFileOfTheHomeIsReadThere) {
  const Checked checked = check("home_files = { \".gmail-mcp/keys.json\" = \"/data/keys\" }",
                                facts_with("/data/keys", {PathKind::file, "/data/keys"}));
  EXPECT_EQ(checked.errors(), "");
  EXPECT_EQ(checked.broken(), "");
  EXPECT_THAT(checked.config.servers.at(0).binds,
              ElementsAre(Bind{"/data/keys", "/home/mcp/.gmail-mcp/keys.json", Access::read}));
}

TEST(BindCheck, ADirectoryIsNoFileOfTheHome) {
  const Checked checked = check("home_files = { \"keys\" = \"/data/keys\" }",
                                facts_with("/data/keys", {PathKind::directory, "/data/keys"}));
  EXPECT_THAT(checked.broken(), HasSubstr("is a directory, which read shows"));
}

TEST(BindCheck, AFileOfTheHomeThatIsMissingLeavesItsServerOut) {
  const Checked checked =
      check("home_files = { \"keys\" = \"/data/keys\" }", facts_with("/data/keys", {}));
  EXPECT_EQ(checked.errors(), "");
  EXPECT_THAT(checked.broken(), HasSubstr("does not exist"));
}

TEST(BindCheck, AFileOfTheHomeStaysBelowIt) {
  const HostFacts facts = facts_with("/data/keys", {PathKind::file, "/data/keys"});
  for (const char* name : {"/etc/keys", "../keys", "a//b", "a/", ".", ""}) {
    const Checked checked =
        check(std::string("home_files = { \"") + name + "\" = \"/data/keys\" }", facts);
    EXPECT_THAT(checked.errors(), HasSubstr("allowed: the path of a file below the home")) << name;
  }
}

TEST(BindCheck, AFileOfTheHomeCannotLieBelowAnother) {
  const Checked checked = check("home_files = { \"a\" = \"/data/keys\", \"a/b\" = \"/data/keys\" }",
                                facts_with("/data/keys", {PathKind::file, "/data/keys"}));
  EXPECT_THAT(checked.errors(), HasSubstr("files beside each other"));
}

TEST(BindCheck, AFileOfTheHomeThatACellWritesElsewhereIsRefused) {
  const Checked checked = check("home_files = { \"run\" = \"/srv/rw/run\" }\nwrite = [\"/srv/rw\"]",
                                facts_with("/srv/rw/run", {PathKind::file, "/srv/rw/run"}));
  EXPECT_THAT(checked.errors(), HasSubstr("could be executed: home_files \"/srv/rw/run\""));
}

TEST(BindCheck, HasALimitOnDirectoriesThatMustNotBeRenamed) {
  std::string deep = "/srv/rw";
  for (int i = 0; i < 300; ++i) deep += "/d";
  deep += "/ro";
  const Checked checked = check("write = [\"/srv/rw\"]\nread = [\"" + deep + "\"]",
                                facts_with(deep, {PathKind::directory, deep}));
  EXPECT_THAT(checked.errors(), HasSubstr("300 directories lie between"));
}

}  // namespace
}  // namespace cellblock
