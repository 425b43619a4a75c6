#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "supervisor/launcher/prepare/state_directory.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::launcher {
namespace {

constexpr uid_t before = 70'001;
constexpr uid_t after = 70'002;
constexpr uid_t foreign = 70'003;

class HandOverTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
    make_directory("home");
  }

  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  void own(const std::string& name, uid_t owner) const {
    ASSERT_EQ(::lchown(path(name).c_str(), owner, owner), 0) << name;
  }
  void make_directory(const std::string& name, uid_t owner = before) const {
    ASSERT_EQ(::mkdir(path(name).c_str(), 0700), 0);
    own(name, owner);
  }
  void make_file(const std::string& name, uid_t owner = before) const {
    std::ofstream(path(name)) << "text";
    own(name, owner);
  }
  uid_t owner_of(const std::string& name) const {
    struct stat status{};
    EXPECT_EQ(::lstat(path(name).c_str(), &status), 0) << name;
    return status.st_uid;
  }
  SysResult<void> hand() const {
    const Fd home(::open(path("home").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return chown_tree(home.get(), {after, after});
  }

  ScratchDirectory scratch_;
};

TEST_F(HandOverTest, GivesADirectoryAndAllBelowIt) {
  make_directory("home/a");
  make_directory("home/a/b");
  make_file("home/a/b/file");
  ASSERT_EQ(::chmod(path("home/a").c_str(), 0), 0);
  ASSERT_TRUE(hand());
  for (const char* name : {"home", "home/a", "home/a/b", "home/a/b/file"}) {
    EXPECT_EQ(owner_of(name), after) << name;
  }
}

TEST_F(HandOverTest, FollowsNoLink) {
  make_directory("outside");
  make_file("outside/file");
  ASSERT_EQ(::symlink("../outside", path("home/link").c_str()), 0);
  own("home/link", before);
  ASSERT_TRUE(hand());
  EXPECT_EQ(owner_of("home/link"), after);
  EXPECT_EQ(owner_of("outside"), before);
  EXPECT_EQ(owner_of("outside/file"), before);
}

TEST_F(HandOverTest, FetchesNoFileThatHasANameElsewhere) {
  make_file("elsewhere");
  ASSERT_EQ(::link(path("elsewhere").c_str(), path("home/name").c_str()), 0);
  make_file("home/one");
  ASSERT_EQ(::link(path("home/one").c_str(), path("home/two").c_str()), 0);
  ASSERT_TRUE(hand());
  EXPECT_EQ(owner_of("elsewhere"), before);
  EXPECT_EQ(owner_of("home/one"), after);
}

TEST_F(HandOverTest, LeavesWhatBelongsToOthers) {
  make_file("home/theirs", foreign);
  make_directory("home/directory", foreign);
  make_file("home/directory/ours");
  ASSERT_TRUE(hand());
  EXPECT_EQ(owner_of("home/theirs"), foreign);
  EXPECT_EQ(owner_of("home/directory"), foreign);
  EXPECT_EQ(owner_of("home/directory/ours"), after);
}

TEST_F(HandOverTest, EndsAtADepthWithoutHavingGivenTheTop) {
  std::string name = "home";
  for (int level = 0; level < 140; ++level) make_directory(name += "/d");
  const auto handed = hand();
  ASSERT_FALSE(handed.has_value());
  EXPECT_EQ(handed.error().number, ELOOP);
  EXPECT_EQ(owner_of("home"), before);
}

TEST_F(HandOverTest, IsNotTriedAgainBeforeTheNextStartOnceItFailed) {
  std::string name = "home/s";
  make_directory(name);
  make_directory(name += "/7");
  const std::string top = name;
  for (int level = 0; level < 140; ++level) make_directory(name += "/d");
  const auto open_state = [this] {
    return StateDirectory::open(Fd(::open(path("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                                80'000, 10);
  };
  const auto error_of = [](StateDirectory& state) {
    const auto tree = state.home_tree({"s", 7, {after, after}}, Execution::refused);
    return tree ? 0 : tree.error().number;
  };
  auto state = open_state();
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(error_of(*state), ELOOP);
  std::filesystem::remove_all(path(top + "/d"));
  EXPECT_EQ(error_of(*state), ELOOP);
  EXPECT_EQ(owner_of(top), before);
  auto next = open_state();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(error_of(*next), 0);
  EXPECT_EQ(owner_of(top), after);
}

}  // namespace
}  // namespace cellblock::launcher
