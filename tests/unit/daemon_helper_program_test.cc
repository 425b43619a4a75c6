#include <gtest/gtest.h>

#include "supervisor/loader/start/helper_program.h"

namespace cellblock::daemon {
namespace {

TEST(HelperPath, IsTheConfiguredDirectoryWhereTheDaemonIsInstalled) {
  const auto path = helper_path("/usr/sbin", "/usr/sbin", "cellblock-gateway");
  EXPECT_TRUE(path.ends_with("/cellblock/cellblock-gateway")) << path;
  EXPECT_FALSE(path.starts_with("/usr/sbin")) << path;
}

TEST(HelperPath, IsTheDaemonsOwnDirectoryAnywhereElse) {
  EXPECT_EQ(helper_path("/build/bin", "/usr/sbin", "cellblock-gateway"),
            "/build/bin/cellblock-gateway");
  EXPECT_EQ(helper_path("", "/usr/sbin", "cellblock-gateway"), "/cellblock-gateway");
}

TEST(HelperProgram, IsNoneThatIsNotThere) {
  const auto program = open_helper("cellblock-nothing");
  ASSERT_FALSE(program);
  EXPECT_TRUE(program.error().text.ends_with(
      "No such file or directory: install all programs from one build"))
      << program.error().text;
}

}  // namespace
}  // namespace cellblock::daemon
