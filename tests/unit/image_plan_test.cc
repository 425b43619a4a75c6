// How an unpacked image becomes the root of a cell.

#include "supervisor/launcher/child/image_plan.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>

#include "policy/failures/end_verdict.h"
#include "supervisor/launcher/child/landlock_ruleset.h"
#include "supervisor/launcher/prepare/image_listing.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::launcher {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

const HostLayout host = {.system_directories = {{"usr", std::nullopt}},
                         .etc_directories = {"/etc/ssl/certs"},
                         .loader_cache = "the host's",
                         .local_time = "UTC",
                         .resolver = "nameserver 192.0.2.1\n",
                         .hosts = ""};

ImageEntry plain(std::string name) { return {std::move(name), EntryKind::bind, ""}; }
ImageEntry link(std::string name, std::string target) {
  return {std::move(name), EntryKind::symbolic_link, std::move(target)};
}

const ImageListing listing = {
    {"/",
     {plain("usr"), link("bin", "usr/bin"), plain("etc"), plain("home"), plain("proc"),
      plain("dev"), plain("sys"), plain("tmp"), plain("data"), plain("server")}},
    {"/etc",
     {plain("passwd"), plain("ssl"), plain("resolv.conf"), plain("ld.so.cache"),
      link("mtab", "/proc/mounts")}},
    {"/home", {plain("mcp"), plain("node")}}};

std::vector<RootEntry> planned(const Server& server) {
  return plan_image_root("/opt/image", own_entries(server, host), listing);
}

const RootEntry* entry_at(const std::vector<RootEntry>& entries, std::string_view path) {
  const auto found = std::ranges::find(entries, path, &RootEntry::path);
  return found == entries.end() ? nullptr : &*found;
}

TEST(ImagePlan, ShowsTheImagesEntriesReadOnlyInTheirPlaces) {
  const auto entries = planned({});
  const RootEntry* usr = entry_at(entries, "/usr");
  ASSERT_NE(usr, nullptr);
  EXPECT_EQ(usr->content, "/opt/image/usr");
  EXPECT_EQ(usr->bind, BindKind::read);
  EXPECT_EQ(usr->declared, path_of_image);
  EXPECT_EQ(entry_at(entries, "/server")->content, "/opt/image/server");
  EXPECT_EQ(entry_at(entries, "/home/node")->content, "/opt/image/home/node");
}

TEST(ImagePlan, RepeatsTheImagesLinksAsTheyAre) {
  const auto entries = planned({});
  EXPECT_EQ(entry_at(entries, "/bin")->kind, EntryKind::symbolic_link);
  EXPECT_EQ(entry_at(entries, "/bin")->content, "usr/bin");
}

TEST(ImagePlan, HasNothingOfTheHostsSystemDirectories) {
  for (const RootEntry& entry : planned({})) {
    if (entry.kind != EntryKind::bind || entry.bind == BindKind::device) continue;
    EXPECT_TRUE(entry.content.starts_with("/opt/image/")) << entry.path << " " << entry.content;
  }
}

TEST(ImagePlan, TheCellsOwnPlacesComeBeforeTheImages) {
  const auto entries = planned({});
  EXPECT_EQ(entry_at(entries, "/etc/passwd")->kind, EntryKind::file);
  EXPECT_EQ(entry_at(entries, "/etc/resolv.conf")->kind, EntryKind::file);
  EXPECT_EQ(entry_at(entries, "/proc")->kind, EntryKind::directory);
  EXPECT_EQ(entry_at(entries, "/tmp")->kind, EntryKind::directory);
  EXPECT_EQ(entry_at(entries, "/home/mcp")->kind, EntryKind::directory);
  EXPECT_EQ(entry_at(entries, "/dev")->kind, EntryKind::directory);
  EXPECT_EQ(entry_at(entries, "/sys"), nullptr);
}

TEST(ImagePlan, OfEtcTheImagesFilesStandBesideTheCells) {
  const auto entries = planned({});
  EXPECT_EQ(entry_at(entries, "/etc/ssl")->content, "/opt/image/etc/ssl");
  EXPECT_EQ(entry_at(entries, "/etc/ld.so.cache")->content, "/opt/image/etc/ld.so.cache");
  EXPECT_EQ(entry_at(entries, "/etc/mtab")->content, "/proc/mounts");
}

TEST(ImagePlan, ACellWithoutAResolverDoesNotSeeTheImages) {
  EXPECT_EQ(entry_at(planned({.network = NetworkMode::loopback}), "/etc/resolv.conf"), nullptr);
}

TEST(ImagePlan, NothingStandsInTwoPlaces) {
  const auto entries = planned({.binds = {{"/srv/data", "/data", Access::write}}});
  for (const RootEntry& entry : entries) {
    EXPECT_EQ(std::ranges::count(entries, entry.path, &RootEntry::path), 1) << entry.path;
  }
  EXPECT_EQ(entry_at(entries, "/data")->content, "/srv/data");
}

TEST(ImagePlan, OnlyDirectoriesWithSomethingOfTheCellsAreShownEntryByEntry) {
  EXPECT_THAT(merged_directories(own_entries({}, host)), ElementsAre("/", "/etc", "/home"));
  const Server declared{
      .binds = {{"/srv", "/app/data", Access::write}, {"/in", "/app/data/in", Access::read}},
      .secrets = {{"TOKEN", "/t", SecretDelivery::file}}};
  EXPECT_THAT(merged_directories(own_entries(declared, host)),
              ElementsAre("/", "/app", "/etc", "/home", "/run"));
}

TEST(ImagePlan, LandlockLetsTheImageBeReadAndRunAndWrittenNowhere) {
  const Server server;
  const auto ruleset = landlock_ruleset(6, server, planned(server));
  const auto found = std::ranges::find(ruleset.paths, "/usr", &LandlockPathRule::path);
  ASSERT_NE(found, ruleset.paths.end());
  EXPECT_EQ(found->access, landlock::read_file | landlock::read_directory | landlock::execute);
  // What is in /etc is read by the rule of the root, and not run.
  EXPECT_EQ(std::ranges::find(ruleset.paths, "/etc/ssl", &LandlockPathRule::path),
            ruleset.paths.end());
}

// --- what is there -------------------------------------------------------------------------------

SysResult<ImageListing> listed(const std::string& image,
                               const std::vector<std::string>& directories) {
  auto root = open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY);
  return list_image(root->get(), image, directories);
}

std::vector<std::string> names_in(const ImageListing& all, const std::string& directory) {
  std::vector<std::string> names;
  const auto found = all.find(directory);
  if (found == all.end()) return names;
  for (const ImageEntry& entry : found->second) names.push_back(entry.name);
  std::ranges::sort(names);
  return names;
}

TEST(ImageListing, HasFilesDirectoriesAndLinksButNoPipes) {
  const ScratchDirectory scratch;
  scratch.make_directory("usr", 0755);
  scratch.write("server", "x", 0755);
  ASSERT_EQ(::symlink("/etc/shadow", (scratch.path() + "/link").c_str()), 0);
  ASSERT_EQ(::mkfifo((scratch.path() + "/pipe").c_str(), 0600), 0);
  const auto all = listed(scratch.path(), {"/"});
  ASSERT_TRUE(all.has_value()) << all.error().text();
  EXPECT_THAT(names_in(*all, "/"), ElementsAre("link", "server", "usr"));
  const auto& entries = all->at("/");
  EXPECT_EQ(std::ranges::find(entries, "link", &ImageEntry::name)->link, "/etc/shadow");
}

TEST(ImageListing, ADirectoryThatIsReachedThroughALinkCountsAsMissing) {
  const ScratchDirectory scratch;
  ASSERT_EQ(::symlink("/etc", (scratch.path() + "/etc").c_str()), 0);
  const auto all = listed(scratch.path(), {"/", "/etc", "/home"});
  ASSERT_TRUE(all.has_value()) << all.error().text();
  EXPECT_THAT(names_in(*all, "/etc"), IsEmpty());
  EXPECT_FALSE(all->contains("/home"));
}

TEST(ImageListing, AnImageThatIsNotThereIsAnErrorAndSoIsALinkToOne) {
  const ScratchDirectory scratch;
  EXPECT_EQ(listed(scratch.path() + "/none", {"/"}).error().number, ENOENT);
  ASSERT_EQ(::symlink(scratch.path().c_str(), (scratch.path() + "/self").c_str()), 0);
  EXPECT_EQ(listed(scratch.path() + "/self", {"/"}).error().number, ELOOP);
}

TEST(ImageListing, IsBounded) {
  const ScratchDirectory scratch;
  for (int i = 0; i < 1025; ++i) scratch.write("f" + std::to_string(i), "", 0644);
  EXPECT_EQ(listed(scratch.path(), {"/"}).error().number, E2BIG);
}

}  // namespace
}  // namespace cellblock::launcher
