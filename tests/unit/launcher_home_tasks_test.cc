// Needs root: the homes belong to ids that no account has.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "supervisor/launcher/run/home_tasks.h"
#include "tests/unit/unanswering_file.h"

namespace cellblock::launcher {
namespace {

using testing::HasSubstr;
using wire::HomeAction;
using wire::HomeAnswer;

constexpr std::uint32_t alice = 64'201;
constexpr std::uint32_t bob = 64'202;

class HomeTasksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: it becomes other users";
    std::string place = "/var/tmp/cellblock-homes.XXXXXX";
    ASSERT_NE(::mkdtemp(place.data()), nullptr);
    place_ = place;
    ASSERT_EQ(::chmod(place_.c_str(), 0755), 0);
    auto loop = EventLoop::make();
    ASSERT_TRUE(loop);
    loop_.emplace(std::move(*loop));
  }
  void TearDown() override {
    if (!place_.empty()) std::filesystem::remove_all(place_);
  }

  std::string make(const std::string& name, std::uint32_t owner) const {
    std::string path = place_ + "/" + name;
    EXPECT_EQ(::mkdir(path.c_str(), 0700), 0);
    EXPECT_EQ(::chown(path.c_str(), owner, owner), 0);
    return path;
  }
  static Fd open(const std::string& path) {
    return Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  SysResult<void> begin(HomeTasks& tasks, const std::string& server, std::uint32_t user,
                        HomeAction action, const std::string& home) {
    return tasks.begin({server, user, {user, user}, action}, open(home),
                       [this](const wire::HomeFacts& facts) {
                         told_.push_back(facts);
                         loop_->stop();
                       });
  }

  std::string place_;
  std::optional<EventLoop> loop_;
  std::vector<wire::HomeFacts> told_;
};

TEST_F(HomeTasksTest, AHomeIsClearedWithTheRightsOfItsOwner) {
  const std::string home = make("home", alice);
  make("home/hers", alice);
  make("home/hers/below", alice);
  HomeTasks tasks(*loop_);
  ASSERT_TRUE(begin(tasks, "files", alice, HomeAction::clear, home));
  EXPECT_TRUE(tasks.is_clearing("files", alice));
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(told_.at(0).answer, HomeAnswer::done);
  EXPECT_TRUE(std::filesystem::is_empty(home));
}

TEST_F(HomeTasksTest, WhatIsClosedToTheOwnerOfAHomeStays) {
  const std::string home = make("home", alice);
  make("home/his", bob);
  make("home/his/below", bob);
  HomeTasks tasks(*loop_);
  ASSERT_TRUE(begin(tasks, "files", alice, HomeAction::clear, home));
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(told_.at(0).answer, HomeAnswer::failed);
  EXPECT_EQ(told_.at(0).error, EPERM) << "it cannot open it up (chmod)";
  EXPECT_TRUE(std::filesystem::exists(home + "/his/below"));
}

// Who has the same ids could stop it (kill(2)).
TEST_F(HomeTasksTest, TheOwnerOfAHomeHasNoneOfTheIdsThatSignalsGoBy) {
  HomeTasks tasks(*loop_);
  ASSERT_TRUE(begin(tasks, "files", alice, HomeAction::look, make("home", alice)));
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
  std::ifstream file("/proc/" + std::to_string(info.si_pid) + "/status");
  const std::string status(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(status, HasSubstr("\nUid:\t0\t0\t0\t" + std::to_string(alice) + "\n"));
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(told_.at(0).answer, HomeAnswer::done);
}

TEST_F(HomeTasksTest, NoUserTakesThePlacesOfOthers) {
  HomeTasks tasks(*loop_);
  EXPECT_TRUE(begin(tasks, "a", alice, HomeAction::look, make("a", alice)));
  EXPECT_TRUE(begin(tasks, "b", alice, HomeAction::look, make("b", alice)));
  const auto third = begin(tasks, "c", alice, HomeAction::look, make("c", alice));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().number, EBUSY);
  EXPECT_TRUE(begin(tasks, "a", bob, HomeAction::look, make("of_bob", bob)));
  ASSERT_TRUE(loop_->run());
}

TEST_F(HomeTasksTest, OneThatDoesNotEndInTimeIsKilledAndItsUserAnswered) {
  const std::string home = make("home", alice);
  const UnansweringFile mount(home, UnansweringFile::Withholds::everything);
  if (!mount.usable()) GTEST_SKIP() << "no FUSE file system can be mounted here";
  HomeTasks tasks(*loop_, std::chrono::milliseconds(50));
  ASSERT_TRUE(begin(tasks, "files", alice, HomeAction::look, home));
  ASSERT_TRUE(loop_->run());
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].answer, HomeAnswer::failed);
  EXPECT_EQ(told_[0].error, ETIMEDOUT);
}

}  // namespace
}  // namespace cellblock::launcher
