// What a server left in its home beforehand does not make an attempt look held.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/scratch.h"

namespace cellblock::probe {
namespace {

namespace fs = std::filesystem;

constexpr const char* once_fixed[] = {"cellblock-probe-program", "cellblock-probe-lender",
                                      "cellblock-probe-capable", "cellblock-probe-gift",
                                      "cellblock-probe-device",  "cellblock-probe-link",
                                      "cellblock-probe-sparse",  "cellblock-probe-fill"};

class Home : public testing::Test {
 protected:
  Home() {
    std::string name = (fs::temp_directory_path() / "cellblock-home-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
    ::setenv("HOME", path_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  ~Home() override { fs::remove_all(path_); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  static Outcome run(std::string_view id, const Setting& setting = {}) {
    for (const AttemptGroup& group : attempt_groups()) {
      for (const Attempt& attempt : group.attempts) {
        if (attempt.id == id) return attempt.run(setting);
      }
    }
    return unclear("no such attempt");
  }
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

  std::string path_;
};

TEST_F(Home, WithDirectoriesInTheWayHoldsNothingBack) {
  for (const char* name : once_fixed) fs::create_directory(path_ + "/" + name);
  Setting setting;
  setting.targets.file = "/etc/passwd";
  EXPECT_EQ(run("run_from_home").kind, OutcomeKind::open);
  EXPECT_EQ(run("create_set_user_id_file").kind, OutcomeKind::open);
  EXPECT_EQ(run("lend_identity").kind, OutcomeKind::open);
  EXPECT_EQ(run("make_sparse_terabyte").error == EEXIST, false);
  EXPECT_EQ(run("link_to_host_file", setting).kind, OutcomeKind::open);
  EXPECT_EQ(entries(), std::ssize(once_fixed));
}

TEST_F(Home, WithPlantedLinksLeadsNowhere) {
  const std::string victim = path_ + "/victim";
  std::ofstream(victim) << "x";
  ASSERT_EQ(::chmod(victim.c_str(), 0600), 0);
  for (const char* name : once_fixed) fs::create_symlink(victim, path_ + "/" + name);
  run("give_file_away");
  run("lend_identity");
  struct stat status{};
  ASSERT_EQ(::stat(victim.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, ::geteuid());
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(Home, ThatItsOwnerClosedProvesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user here";
  ASSERT_EQ(::chown(path_.c_str(), 65'533, 65'533), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0), 0);
  ASSERT_EQ(::seteuid(65'533), 0);
  const Outcome outcome = run_written_program(path_);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(outcome.kind, OutcomeKind::unclear) << outcome.detail();
}

TEST_F(Home, ThatBelongsToSomebodyElseHolds) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user here";
  ASSERT_EQ(::chmod(path_.c_str(), 0755), 0);
  ASSERT_EQ(::seteuid(65'533), 0);
  const Outcome outcome = run_written_program(path_);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(outcome.kind, OutcomeKind::held);
  EXPECT_EQ(outcome.error, EACCES);
}

TEST_F(Home, IsAsItWasAfterwards) {
  {
    const Scratch scratch(path_);
    ASSERT_TRUE(scratch.valid()) << scratch.problem().detail();
    EXPECT_TRUE(scratch.create(O_WRONLY, 0600).valid());
    EXPECT_FALSE(scratch.create(O_WRONLY, 0600).valid());
  }
  EXPECT_EQ(entries(), 0);
}

TEST(Preparation, ThatFailsForWantOfRoomOrOfANameIsNoDefence) {
  for (const int error : {EEXIST, EISDIR, ENOTDIR, ENOSPC, EDQUOT, ELOOP, ENOENT, EMFILE}) {
    EXPECT_EQ(unprepared(error).kind, OutcomeKind::unclear) << error;
  }
  for (const int error : {EACCES, EPERM, EROFS}) {
    EXPECT_EQ(unprepared(error).kind, OutcomeKind::held) << error;
  }
}

TEST(RandomNames, AreNeverTheSame) {
  EXPECT_EQ(random_name().size(), 32U);
  EXPECT_NE(random_name(), random_name());
}

}  // namespace
}  // namespace cellblock::probe
