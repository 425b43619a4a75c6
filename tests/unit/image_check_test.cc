// `image` and `working_directory`: by what is written, and by what is there.

#include "policy/config_check/image_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "policy/config/path_rules.h"
#include "policy/config_check/config_check.h"
#include "supervisor/loader/load/command_file.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock {
namespace {

using testing::HasSubstr;

constexpr const char* image = "/opt/image";

HostFacts facts_with(ProgramFacts tree, SourceFacts source = {PathKind::directory, image}) {
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 4096;
  facts.landlock_abi = 7;
  facts.cgroup.missing_because = "no group was delegated";
  facts.users = {{"cellblock", {990, 991}}, {"alice", {1001, 1001}}};
  facts.groups = {{"cellblock", 991}};
  facts.sources["/srv/rw"] = {PathKind::directory, "/srv/rw"};
  facts.sources["/opt"] = {PathKind::directory, "/opt"};
  facts.sources[image] = std::move(source);
  facts.images[image] = std::move(tree);
  return facts;
}

HostFacts sound() { return facts_with({PathKind::directory, ""}); }

struct Checked {
  Config config;
  std::string said;
};

Checked check(const std::string& lines, const HostFacts& facts) {
  const std::string text =
      "[server.s]\nallow = { users = [\"alice\"], tools = [\"t\"] }\n" + lines + "\n";
  Complaints complaints;
  const std::vector<ConfigText> texts{
      parse_config_text(text, "c.toml", FileRole::main, complaints)};
  Checked checked;
  checked.config = check_config({RunMode::system, {}, texts}, facts, complaints);
  for (const Complaint& one : complaints.take_sorted()) {
    if (one.severity != Complaint::Severity::warning) checked.said += to_line(one) + "\n";
  }
  return checked;
}

std::string with(const std::string& lines) {
  return "command = [\"/bin/server\"]\nimage = \"/opt/image\"\n" + lines;
}

std::string said_of(const std::string& lines, const HostFacts& facts = sound()) {
  return check(lines, facts).said;
}

TEST(ImageCheck, TakesADirectoryThatNobodyElseCanChange) {
  const Checked checked = check(with("working_directory = \"/app\""), sound());
  EXPECT_EQ(checked.said, "");
  EXPECT_EQ(checked.config.servers.at(0).image, image);
  EXPECT_EQ(checked.config.servers.at(0).working_directory, "/app");
}

TEST(ImageCheck, OneThatIsMissingOrNoDirectoryLeavesItsServerOut) {
  EXPECT_THAT(said_of(with(""), facts_with({}, {})), HasSubstr("does not exist"));
  const Checked file = check(with(""), facts_with({PathKind::file, ""}));
  EXPECT_THAT(file.said, HasSubstr("is no directory; allowed: the root directory of an unpacked"));
  EXPECT_FALSE(file.config.servers.at(0).is_usable());
}

TEST(ImageCheck, NobodyElseMayChangeAnythingInIt) {
  const auto said = said_of(
      with(""), facts_with({PathKind::directory, "/opt/image/tmp can be changed by others"}));
  EXPECT_THAT(said, HasSubstr("somebody else could change what is in \"/opt/image\""));
  EXPECT_THAT(said, HasSubstr("chmod -R go-w /opt/image"));
}

TEST(ImageCheck, NobodyElseMayReplaceIt) {
  const auto said = said_of(
      with(""), facts_with({PathKind::directory, ""}, {PathKind::directory, image,
                                                       "the directory /opt is owned by uid 1001"}));
  EXPECT_THAT(said, HasSubstr("somebody else could change \"/opt/image\""));
}

TEST(ImageCheck, NamesTheRealPath) {
  const auto said =
      said_of(with(""), facts_with({PathKind::directory, ""}, {PathKind::directory, "/srv/image"}));
  EXPECT_THAT(said, HasSubstr("reached through a symbolic link; allowed: \"/srv/image\""));
}

TEST(ImageCheck, IsNoneOfTheHostsOwnDirectories) {
  for (const char* own : {"/", "/etc", "/proc", "/run/x", "images"}) {
    const auto said =
        said_of("command = [\"/bin/server\"]\nimage = \"" + std::string(own) + "\"", sound());
    EXPECT_THAT(said, HasSubstr("server.s.image")) << own;
  }
}

TEST(ImageCheck, WhatIsWrittenLiesApartFromIt) {
  EXPECT_THAT(said_of(with("write = [\"/opt:/data\"]")),
              HasSubstr("allowed: directories apart from the image"));
  EXPECT_EQ(said_of(with("write = [\"/srv/rw:/data\"]")), "");
}

TEST(ImageCheck, AShellOfTheImageMayBeToldWhatToRunButNothingIsDownloaded) {
  EXPECT_EQ(said_of("image = \"/opt/image\"\ncommand = [\"/bin/sh\", \"-c\", \"server\"]"), "");
  EXPECT_THAT(said_of("image = \"/opt/image\"\ncommand = [\"/usr/bin/uvx\", \"server\"]"),
              HasSubstr("downloads what it runs"));
  EXPECT_THAT(said_of("image = \"/opt/image\"\ncommand = [\"/usr/bin/env\", \"npx\", \"x\"]"),
              HasSubstr("downloads what it runs"));
}

TEST(ImageCheck, AWorkingDirectoryIsAWholePath) {
  EXPECT_THAT(said_of(with("working_directory = \"app\"")), HasSubstr("is not absolute"));
}

TEST(ImagePaths, LeadBelowTheImageButForWhatIsTheCellsOwn) {
  const std::vector<Bind> binds = {{"/srv/data", "/data", Access::read}};
  EXPECT_EQ(host_path_of("/usr/bin/x", binds, image), "/opt/image/usr/bin/x");
  EXPECT_EQ(host_path_of("/app/x", binds, image), "/opt/image/app/x");
  EXPECT_EQ(host_path_of("/data/x", binds, image), "/srv/data/x");
  for (const char* own : {"/proc/1", "/dev/null", "/tmp/x", "/home/mcp/x", "/etc/passwd"}) {
    EXPECT_EQ(host_path_of(own, binds, image), std::nullopt) << own;
  }
}

// --- by what is there ----------------------------------------------------------------------------

/// A tree with a server in it.
class UnpackedImage : public testing::Test {
 protected:
  UnpackedImage() {
    scratch_.make_directory("image", 0755);
    scratch_.make_directory("image/bin", 0755);
    scratch_.write("image/bin/server", "x", 0755);
    scratch_.write("outside", "x", 0755);
  }

  std::string root() const { return scratch_.path() + "/image"; }
  void link(const std::string& name, const std::string& target) const {
    EXPECT_EQ(::symlink(target.c_str(), (root() + name).c_str()), 0);
  }
  CommandFacts look(const std::string& command, std::vector<Bind> binds = {}) const {
    CommandWanted wanted;
    wanted.path = command;
    wanted.binds = std::move(binds);
    wanted.image = root();
    wanted.digest = DigestWanted::yes;
    return look_at_command(wanted, owners_);
  }

  ScratchDirectory scratch_;
  const std::array<uid_t, 2> owners_{0, ::geteuid()};
};

TEST_F(UnpackedImage, CommandsAreLookedForInItAlone) {
  EXPECT_EQ(look("/bin/server").state, CommandState::usable);
  EXPECT_EQ(look("/bin/server").host_path, root() + "/bin/server");
  EXPECT_EQ(look("/usr/bin/env").state, CommandState::missing);
}

TEST_F(UnpackedImage, LinksOfACommandLeadNoFurtherThanItsRoot) {
  link("/whole", "/bin/server");
  link("/up", "../../../../../../bin/server");
  link("/bin/out", "../../outside");
  link("/away", "/usr/bin/env");
  EXPECT_EQ(look("/whole").host_path, root() + "/bin/server");
  EXPECT_EQ(look("/up").host_path, root() + "/bin/server");
  EXPECT_EQ(look("/bin/out").state, CommandState::missing);
  EXPECT_EQ(look("/away").state, CommandState::missing);
}

// sha256sum of "x" and of "y"
constexpr const char* of_x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
constexpr const char* of_y = "a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa";

TEST_F(UnpackedImage, TheDigestIsOfTheFileThatTheCellWillExecuteWhateverCoversTheImages) {
  scratch_.make_directory("image/app", 0755);
  scratch_.make_directory("image/opt", 0755);
  scratch_.make_directory("image/opt/app", 0755);
  scratch_.write("image/opt/app/server", "x", 0755);
  scratch_.make_directory("shown", 0755);
  scratch_.write("shown/server", "y", 0755);
  link("/bin/relative", "../opt/app/server");
  link("/bin/whole", "/bin/../opt/app/server");
  link("/there", "opt");
  link("/into", "/opt");
  const std::string shown = scratch_.path() + "/shown";
  const std::vector<Bind> covers{{shown, "/opt/app", Access::read}};
  for (const char* command : {"/opt/app/server", "/bin/relative", "/bin/whole", "/there/app/server",
                              "/into/app/server"}) {
    EXPECT_EQ(look(command).sha256, of_x) << command;
    EXPECT_EQ(look(command, covers).sha256, of_y) << command;
    EXPECT_EQ(look(command, covers).host_path, shown + "/server") << command;
  }
  EXPECT_EQ(look("/bin/server", covers).sha256, of_x);
}

TEST_F(UnpackedImage, ACommandBehindALinkIntoThatWhichIsTheCellsOwnIsNotThere) {
  scratch_.make_directory("image/tmp", 0755);
  scratch_.write("image/tmp/server", "x", 0755);
  link("/bin/tmp", "../tmp/server");
  EXPECT_EQ(look("/bin/tmp").state, CommandState::not_visible);
}

TEST_F(UnpackedImage, WhoCanChangeTheFileIsAskedOfTheOneThatTheCellWillExecute) {
  scratch_.make_directory("image/opt", 0755);
  scratch_.make_directory("image/opt/app", 0755);
  scratch_.write("image/opt/app/server", "x", 0755);
  scratch_.make_directory("shown", 0755);
  scratch_.write("shown/server", "y", 0777);
  link("/bin/relative", "../opt/app/server");
  const std::vector<Bind> covers{{scratch_.path() + "/shown", "/opt/app", Access::read}};
  EXPECT_EQ(look("/bin/relative").unsafe, "");
  EXPECT_THAT(look("/bin/relative", covers).unsafe, HasSubstr("shown/server can be changed"));
}

TEST_F(UnpackedImage, ItsLinksAreNoMatterWhereverTheyLead) {
  link("/shadow", "/etc/shadow");
  link("/out", "../outside");
  EXPECT_EQ(look_at_program(root(), owners_, LinkTargets::within).unsafe, "");
}

TEST_F(UnpackedImage, DevicesPipesAndWhatOthersCanChangeAreNamed) {
  ASSERT_EQ(::mkfifo((root() + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(look_at_program(root(), owners_, LinkTargets::within).unsafe,
              HasSubstr("/image/pipe is a device, a socket or a pipe"));
  ASSERT_EQ(::unlink((root() + "/pipe").c_str()), 0);
  scratch_.make_directory("image/tmp", 01777);
  EXPECT_THAT(look_at_program(root(), owners_, LinkTargets::within).unsafe,
              HasSubstr("/image/tmp can be changed"));
}

}  // namespace
}  // namespace cellblock
