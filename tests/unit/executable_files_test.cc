#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "supervisor/loader/load/command_file.h"
#include "supervisor/loader/report/check_report.h"
#include "supervisor/os/sys.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// As sha256sum prints them.
constexpr const char* digest_of_nothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* digest_of_abc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::array<uid_t, 2> owners() { return {0, ::geteuid()}; }

Result<FileDigest> digest_at(const std::string& path) {
  const auto trusted = owners();
  const auto file = open_trusted(path, {trusted, LastLink::follow});
  if (!file) return fail(file.error().text);
  return digest_of(*file);
}

std::string unsafe_at(const std::string& path) {
  const auto trusted = owners();
  return look_at_program(path, trusted).unsafe;
}

TEST(FileDigest, IsThatOfTheContent) {
  const ScratchDirectory scratch;
  const auto empty = digest_at(scratch.write("empty", "", 0644));
  ASSERT_TRUE(empty.has_value()) << empty.error().text;
  EXPECT_EQ(empty->sha256, digest_of_nothing);
  const auto abc = digest_at(scratch.write("abc", "abc", 0644));
  ASSERT_TRUE(abc.has_value()) << abc.error().text;
  EXPECT_EQ(abc->sha256, digest_of_abc);
}

TEST(FileDigest, TheStampIsOfThatFileAndOfNoOther) {
  const ScratchDirectory scratch;
  const std::string path = scratch.write("one", "abc", 0755);
  const auto first = digest_at(path);
  const auto again = digest_at(path);
  const auto other = digest_at(scratch.write("two", "abc", 0755));
  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(first->stamp, again->stamp);
  EXPECT_NE(first->stamp, other->stamp);
  EXPECT_EQ(first->stamp.size, 3U);
  EXPECT_NE(first->stamp, FileStamp{});
}

TEST(FileDigest, NothingButARegularFileHasOne) {
  const ScratchDirectory scratch;
  EXPECT_FALSE(digest_at(scratch.make_directory("d", 0755)).has_value());
}

TEST(ProgramTree, ATreeThatOnlyItsOwnerCanChangePasses) {
  const ScratchDirectory scratch;
  const std::string top = scratch.make_directory("p", 0755);
  scratch.make_directory("p/bin", 0755);
  scratch.write("p/bin/run", "x", 0755);
  ASSERT_EQ(::symlink("bin/run", (top + "/inside").c_str()), 0);
  ASSERT_EQ(::symlink("/usr/bin/env", (top + "/trusted").c_str()), 0);
  ASSERT_EQ(::symlink("nothing", (top + "/dangling").c_str()), 0);
  EXPECT_EQ(look_at_program(top, owners()).kind, PathKind::directory);
  EXPECT_THAT(unsafe_at(top), IsEmpty());
}

TEST(ProgramTree, AnEntryAtAnyDepthThatOthersCanChangeIsNamed) {
  const ScratchDirectory scratch;
  const std::string top = scratch.make_directory("p", 0755);
  scratch.make_directory("p/a", 0755);
  scratch.make_directory("p/a/b", 0755);
  scratch.write("p/a/b/x.js", "x", 0664);
  EXPECT_THAT(unsafe_at(top), HasSubstr("/p/a/b/x.js can be changed by its group"));
  ASSERT_EQ(::chmod((top + "/a/b/x.js").c_str(), 0644), 0);
  EXPECT_THAT(unsafe_at(top), IsEmpty());
  ASSERT_EQ(::chmod((top + "/a/b").c_str(), 0777), 0);
  EXPECT_THAT(unsafe_at(top), HasSubstr("/p/a/b can be changed"));
}

TEST(ProgramTree, ALinkToWhatOthersCanChangeIsNamed) {
  const ScratchDirectory scratch;
  scratch.write("open", "x", 0666);
  const std::string top = scratch.make_directory("p", 0755);
  ASSERT_EQ(::symlink("../open", (top + "/link").c_str()), 0);
  EXPECT_THAT(unsafe_at(top), HasSubstr("/p/link leads to"));
}

TEST(ProgramTree, APipeIsNoPartOfAProgram) {
  const ScratchDirectory scratch;
  const std::string top = scratch.make_directory("p", 0755);
  ASSERT_EQ(::mkfifo((top + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(unsafe_at(top), HasSubstr("/p/pipe is a device, a socket or a pipe"));
}

TEST(ProgramTree, DepthIsBounded) {
  const ScratchDirectory scratch;
  std::string name = "p";
  const std::string top = scratch.make_directory(name, 0755);
  for (int i = 0; i < 70; ++i) scratch.make_directory(name += "/d", 0755);
  EXPECT_THAT(unsafe_at(top), HasSubstr("64 levels"));
}

TEST(ProgramTree, WhatIsMissingOrNoDirectoryIsSaidSo) {
  const ScratchDirectory scratch;
  const auto trusted = owners();
  EXPECT_EQ(look_at_program(scratch.path() + "/none", trusted).kind, PathKind::missing);
  EXPECT_EQ(look_at_program(scratch.write("f", "", 0644), trusted).kind, PathKind::file);
}

// --- through the whole check ---------------------------------------------------------------------

std::expected<LoadedConfig, std::vector<Complaint>> load_with_digest(
    const ScratchDirectory& scratch, const std::string& sha256) {
  scratch.make_directory("p", 0755);
  scratch.write("p/run", "abc", 0755);
  const std::string text = "[server.a]\ncommand = [\"/opt/p/run\"]\nread = [\"" + scratch.path() +
                           "/p:/opt/p\"]\nsha256 = \"" + sha256 +
                           "\"\nallow = { users = [1], tools = [\"x\"] }\n";
  return load_config({scratch.write("c.toml", text, 0644), RunMode::user, "/tmp/x/c.sock"});
}

TEST(ExecutableFiles, TheRightDigestIsKeptAsTheStampOfTheFile) {
  const ScratchDirectory scratch;
  const auto loaded = load_with_digest(scratch, digest_of_abc);
  const std::string report = check_report("c.toml", loaded);
  ASSERT_TRUE(loaded.has_value()) << report;
  EXPECT_EQ(loaded->config.servers[0].command_stamp, digest_at(scratch.path() + "/p/run")->stamp);
  EXPECT_THAT(report, HasSubstr("/opt/p/run (sha256 compared)"));
}

TEST(ExecutableFiles, AnotherDigestLeavesTheServerOutAndNamesWhatTheFileHas) {
  const ScratchDirectory scratch;
  const auto loaded = load_with_digest(scratch, digest_of_nothing);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_FALSE(loaded->config.servers[0].is_usable());
  EXPECT_THAT(check_report("c.toml", loaded), HasSubstr(digest_of_abc));
}

}  // namespace
}  // namespace cellblock
