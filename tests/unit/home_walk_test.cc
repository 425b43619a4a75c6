// What is in a home directory, counted and removed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "supervisor/launcher/run/home_tasks.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {
namespace {

namespace fs = std::filesystem;
using wire::HomeAction;
using wire::HomeAnswer;

class HomeWalk : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "cellblock-home.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    top_ = name;
    home_ = top_ / "home";
    fs::create_directory(home_);
    directory_ = Fd(::open(home_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(directory_.valid());
  }
  void TearDown() override { fs::remove_all(top_); }

  void write(const fs::path& name) const {
    fs::create_directories((home_ / name).parent_path());
    std::ofstream(home_ / name) << "x";
  }

  wire::HomeFacts walk(HomeAction action, const HomeBounds& bounds = {}) const {
    return walk_home(directory_.get(), action, bounds);
  }

  fs::path top_;
  fs::path home_;
  Fd directory_;
};

TEST_F(HomeWalk, CountsFilesAndDirectories) {
  write("a/b/file");
  write("other");
  const auto facts = walk(HomeAction::look);
  EXPECT_EQ(facts.answer, HomeAnswer::done);
  EXPECT_EQ(facts.files, 4U);
  EXPECT_TRUE(fs::exists(home_ / "a/b/file"));
}

TEST_F(HomeWalk, RemovesAllButTheDirectoryItself) {
  write("a/b/file");
  write("a/b/c/file");
  write(".cellblock-0/file");
  EXPECT_EQ(walk(HomeAction::clear).answer, HomeAnswer::done);
  EXPECT_TRUE(fs::is_empty(home_));
}

TEST_F(HomeWalk, RemovesWhatNobodyMayEnter) {
  write("a/b/file");
  fs::permissions(home_ / "a/b", fs::perms::none);
  fs::permissions(home_ / "a", fs::perms::none);
  EXPECT_EQ(walk(HomeAction::clear).files, 3U);
  EXPECT_TRUE(fs::is_empty(home_));
}

TEST_F(HomeWalk, FollowsNoLink) {
  std::ofstream(top_ / "outside") << "x";
  fs::create_directory_symlink(top_, home_ / "link");
  EXPECT_EQ(walk(HomeAction::look).files, 1U);
  EXPECT_EQ(walk(HomeAction::clear).answer, HomeAnswer::done);
  EXPECT_TRUE(fs::exists(top_ / "outside"));
}

TEST_F(HomeWalk, StopsAtItsBoundAndGoesOnWhenItIsCalledAgain) {
  for (int i = 0; i < 10; ++i) write("d" + std::to_string(i) + "/file");
  const auto first = walk(HomeAction::clear, {.files = 12});
  EXPECT_EQ(first.answer, HomeAnswer::too_many);
  EXPECT_EQ(first.files, 12U);
  EXPECT_FALSE(fs::is_empty(home_));
  EXPECT_EQ(walk(HomeAction::clear).answer, HomeAnswer::done);
  EXPECT_TRUE(fs::is_empty(home_));
}

TEST_F(HomeWalk, RemovesATreeThatIsDeeperThanPathsCanBe) {
  int at = ::dup(directory_.get());
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_EQ(::mkdirat(at, "d", 0700), 0);
    const int below = ::openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(at);
    ASSERT_GE(below, 0);
    at = below;
  }
  ::close(at);
  EXPECT_EQ(walk(HomeAction::look).answer, HomeAnswer::too_many);
  EXPECT_EQ(walk(HomeAction::clear).files, 3'000U);
  EXPECT_TRUE(fs::is_empty(home_));
}

}  // namespace
}  // namespace cellblock::launcher
