// Against the kernel's own files: needs root and a cgroup2 mount.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "supervisor/loader/load/cgroup_leftovers.h"
#include "supervisor/loader/load/cgroup_text.h"
#include "tests/integration/inhabitant.h"

namespace cellblock::daemon {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uid_t ours = 64'001;

std::string mount_point() {
  std::ifstream file("/proc/self/mountinfo");
  const auto mounts = cgroup_mounts(std::string(std::istreambuf_iterator<char>(file), {}));
  return mounts.empty() ? std::string() : mounts.front().point;
}

void remove_group(const std::filesystem::path& path) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_directory(error)) remove_group(entry.path());
  }
  ::rmdir(path.c_str());
}

using harness::Inhabitant;

class Leftovers : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make a control group here";
    if (mount_point().empty()) GTEST_SKIP() << "no cgroup2 file system is mounted here";
    group_ = mount_point() + "/cellblock-leftovers-" + std::to_string(::getpid());
    if (::mkdir(group_.c_str(), 0755) < 0) GTEST_SKIP() << "no group can be made in " << group_;
    make("cells");
    cells_ = Fd(::open((group_ + "/cells").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override {
    if (!group_.empty()) remove_group(group_);
  }

  std::string make(const std::string& name) const {
    std::filesystem::create_directories(group_ + "/" + name);
    return group_ + "/" + name;
  }
  /// As a predecessor leaves it.
  void mark() const {
    ASSERT_TRUE(bound_nesting(cells_.get()).has_value());
    chown_tree();
  }
  void chown_tree() const {
    ASSERT_EQ(::chown((group_ + "/cells").c_str(), ours, ours), 0);
    ASSERT_EQ(::chown((group_ + "/cgroup.procs").c_str(), ours, ours), 0);
  }
  std::string refusal() const {
    const auto ended = end_leftovers(group_, cells_.get(), ours);
    return ended ? std::string() : ended.error().text;
  }

  std::string group_;
  Fd cells_;
};

TEST_F(Leftovers, OfAPredecessorAreEndedAndRemovedHoweverNested) {
  Inhabitant deep(make("cells/echo-1/.below/further"));
  Inhabitant direct(group_ + "/cells");
  mark();
  EXPECT_EQ(foreign_cells(group_, ours), std::nullopt);
  EXPECT_EQ(refusal(), "");
  EXPECT_FALSE(deep.end());
  EXPECT_FALSE(direct.end());
  EXPECT_FALSE(std::filesystem::exists(group_ + "/cells/echo-1"));
}

TEST_F(Leftovers, ThatDoNotEndAreNamedAndLeftAndTheStartGoesOn) {
  const std::string stuck_group = make("cells/echo-1");
  Inhabitant stuck(stuck_group);
  Inhabitant other(make("cells/echo-2"));
  ASSERT_TRUE(stuck.hold_at_exit());
  mark();
  const auto left = end_leftovers(group_, cells_.get(), ours, std::chrono::milliseconds(100));
  ASSERT_TRUE(left.has_value()) << left.error().text;
  ASSERT_EQ(left->size(), 1U);
  const std::string who = "pid " + std::to_string(stuck.pid()) + " of uid 0";
  EXPECT_THAT(left->front(), AllOf(HasSubstr(stuck_group + " stays"), HasSubstr(who)));
  EXPECT_TRUE(std::filesystem::exists(stuck_group));
  EXPECT_FALSE(std::filesystem::exists(group_ + "/cells/echo-2"));
  EXPECT_FALSE(other.end());
}

TEST_F(Leftovers, OfSomebodyElseAreNamedAndLeftAlone) {
  Inhabitant theirs(make("cells/theirs"));
  EXPECT_THAT(foreign_cells(group_, ours).value_or(""), HasSubstr("no cellblockd of this user"));
  EXPECT_THAT(refusal(), HasSubstr("/cells has groups or processes"));
  EXPECT_TRUE(theirs.end());
}

TEST_F(Leftovers, AreNotTakenForOursByTheirOwnerAlone) {
  make("cells/theirs");
  chown_tree();
  EXPECT_THAT(refusal(), HasSubstr("/cells has groups or processes"));
}

TEST_F(Leftovers, OfAnotherUsersCellblockdAreNotOurs) {
  make("cells/echo-1");
  mark();
  EXPECT_NE(foreign_cells(group_, ours + 1), std::nullopt);
}

TEST_F(Leftovers, AreNobodysWhereThereAreNone) {
  EXPECT_EQ(foreign_cells(group_, ours), std::nullopt);
  EXPECT_EQ(foreign_cells(group_ + "/nowhere", ours), std::nullopt);
  EXPECT_EQ(refusal(), "");
}

TEST_F(Leftovers, CannotNestBelowTheGroupsOfCells) {
  mark();
  const std::string cell = make("cells/echo-1");
  EXPECT_EQ(::mkdir((cell + "/below").c_str(), 0755), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(Leftovers, NestedBeyondAllMeasureStopTheStart) {
  std::string name = "cells";
  for (int depth = 0; depth < 20; ++depth) name += "/d";
  make(name);
  mark();
  EXPECT_THAT(refusal(), HasSubstr("rmdir"));
}

}  // namespace
}  // namespace cellblock::daemon
