#include "supervisor/launcher/prepare/workspace_roots.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/unit/scratch_directory.h"

namespace cellblock::launcher {
namespace {

TEST(WorkspaceRoots, RememberWhichTreesWereNotThereAtTheStart) {
  const ScratchDirectory scratch;
  const std::string late = scratch.path() + "/late";
  const Workspace workspace{{late + "/*"}, Access::read};
  auto root = open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY);
  ASSERT_TRUE(root.has_value());
  WorkspaceRoots roots("/nowhere");
  ASSERT_TRUE(roots.attach(HostTree(std::move(*root)), workspace).has_value());
  scratch.make_directory("late", 0755);
  EXPECT_FALSE(roots.find(workspace, late + "/one").has_value());
  EXPECT_TRUE(roots.began_without(workspace, late + "/one"));
  EXPECT_FALSE(roots.began_without(workspace, late + "/one/two"));  // no pattern has it
  EXPECT_FALSE(roots.began_without(workspace, scratch.path() + "/later/one"));
}

}  // namespace
}  // namespace cellblock::launcher
