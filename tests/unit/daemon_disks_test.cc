#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "supervisor/loader/load/disks.h"

namespace cellblock::daemon {
namespace {

TEST(PathsSeen, AreTheSystemTheHomesTheBindsAndWhereWorkspacesBegin) {
  Server server;
  server.binds = {{"/srv/data", "/data", Access::write}};
  EXPECT_THAT(paths_seen(server, "/state"), ::testing::ElementsAre("/usr", "/state", "/srv/data"));
  server.workspace = Workspace{{"/home/*/src/**", "/mnt/big/one"}, Access::write};
  EXPECT_THAT(paths_seen(server, "/state"),
              ::testing::ElementsAre("/usr", "/state", "/srv/data", "/home", "/mnt/big/one"));
}

TEST(DisksBehindPaths, AreNoneInMemory) {
  const auto disks = disks_behind({"/proc", "/sys"});
  ASSERT_TRUE(disks.has_value()) << disks.error().text;
  EXPECT_TRUE(disks->empty());
}

TEST(DisksBehindPaths, AreWholeDisksEachOnce) {
  const auto disks = disks_behind({"/", "/", "/"});
  if (!disks) GTEST_SKIP() << "the root here is on no disk: " << disks.error().text;
  if (disks->empty()) GTEST_SKIP() << "the root here lies in memory";
  ASSERT_EQ(disks->size(), 1U);
  const std::string own = fmt::format("/sys/dev/block/{}:{}", (*disks)[0].major, (*disks)[0].minor);
  EXPECT_TRUE(std::filesystem::exists(own));
  EXPECT_FALSE(std::filesystem::exists(own + "/partition"));
}

TEST(DisksBehindPaths, OfWhatIsNotMadeYetAreItsDirectorys) {
  const auto made = disks_behind({"/"});
  const auto unmade = disks_behind({"/not-made-yet/at/all"});
  ASSERT_EQ(made.has_value(), unmade.has_value());
  if (!made) GTEST_SKIP() << "the root here is on no disk: " << made.error().text;
  EXPECT_EQ(*made, *unmade);
}

}  // namespace
}  // namespace cellblock::daemon
