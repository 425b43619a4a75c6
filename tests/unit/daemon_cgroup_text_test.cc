#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/loader/load/cgroup_text.h"

namespace cellblock::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Way = CgroupChoice::Way;

// --- /proc/self/cgroup ---------------------------------------------------------------------------

TEST(OwnGroup, IsTheUnifiedOne) {
  EXPECT_EQ(own_group("0::/system.slice/cellblock.service\n"), "/system.slice/cellblock.service");
}

TEST(OwnGroup, IsTheVersionTwoLineOfAHybridHost) {
  EXPECT_EQ(own_group("12:pids:/user.slice/user-0.slice\n4:memory:/jobs/0::/x\n"
                      "1:name=systemd:/init.scope\n0::/init.scope\n"),
            "/init.scope");
}

TEST(OwnGroup, IsTheRootInACgroupNamespace) { EXPECT_EQ(own_group("0::/\n"), "/"); }

TEST(OwnGroup, IsNoneWithoutVersionTwo) {
  EXPECT_EQ(own_group("2:cpu:/\n1:name=systemd:/\n"), std::nullopt);
  EXPECT_EQ(own_group(""), std::nullopt);
}

TEST(OwnGroup, IsNoneWhenItWasRemoved) {
  EXPECT_EQ(own_group("0::/system.slice/old.service (deleted)\n"), std::nullopt);
}

// --- /proc/self/mountinfo ------------------------------------------------------------------------

TEST(CgroupMounts, AreFoundOnAUnifiedHost) {
  EXPECT_THAT(
      cgroup_mounts("22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                    "28 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - "
                    "cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"),
      ElementsAre(CgroupMount{"/", "/sys/fs/cgroup"}));
}

TEST(CgroupMounts, LeaveVersionOneOut) {
  EXPECT_THAT(
      cgroup_mounts("31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
                    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"),
      ElementsAre(CgroupMount{"/", "/sys/fs/cgroup/unified"}));
}

TEST(CgroupMounts, ShowTheirRootInAContainer) {
  EXPECT_THAT(cgroup_mounts("700 690 0:26 /docker/0abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n"),
              ElementsAre(CgroupMount{"/docker/0abc", "/sys/fs/cgroup"}));
}

TEST(CgroupMounts, UnescapeWhatTheKernelEscapes) {
  EXPECT_THAT(cgroup_mounts("1 2 0:26 / /mnt/a\\040b\\134c rw - cgroup2 none rw\n"),
              ElementsAre(CgroupMount{"/", "/mnt/a b\\c"}));
}

TEST(CgroupMounts, AreNoneInNonsense) {
  EXPECT_THAT(cgroup_mounts("nonsense\n - cgroup2\n\n"), IsEmpty());
}

// --- both together -------------------------------------------------------------------------------

TEST(DirectoryOfAGroup, IsBelowTheMountPoint) {
  const std::vector<CgroupMount> mounts = {{"/", "/sys/fs/cgroup"}};
  EXPECT_EQ(directory_of("/a/b", mounts), "/sys/fs/cgroup/a/b");
  EXPECT_EQ(directory_of("/", mounts), "/sys/fs/cgroup");
}

TEST(DirectoryOfAGroup, DropsWhatTheMountDoesNotShow) {
  const std::vector<CgroupMount> mounts = {{"/docker/0abc", "/sys/fs/cgroup"}};
  EXPECT_EQ(directory_of("/docker/0abc/x", mounts), "/sys/fs/cgroup/x");
  EXPECT_EQ(directory_of("/docker/0abc", mounts), "/sys/fs/cgroup");
  EXPECT_EQ(directory_of("/docker/0abcd", mounts), std::nullopt);
}

TEST(DirectoryOfAGroup, IsTakenFromTheFirstMountThatShowsIt) {
  const std::vector<CgroupMount> mounts = {{"/other", "/mnt"}, {"/", "/sys/fs/cgroup"}};
  EXPECT_EQ(directory_of("/a", mounts), "/sys/fs/cgroup/a");
}

TEST(DirectoryOfAGroup, IsNoneAboveTheNamespacesRoot) {
  EXPECT_EQ(directory_of("/../supervisor", {{"/", "/sys/fs/cgroup"}}), std::nullopt);
}

TEST(Controllers, AreWholeWords) {
  EXPECT_TRUE(has_word("cpuset cpu io memory pids\n", "cpu"));
  EXPECT_TRUE(has_word("cpuset cpu io memory pids\n", "pids"));
  EXPECT_FALSE(has_word("cpuset io\n", "cpu"));
  EXPECT_FALSE(has_word("", "cpu"));
}

// --- the choice ----------------------------------------------------------------------------------

constexpr char everything[] = "cpuset cpu io memory pids\n";

GroupSight own_unit() {
  return {.directory = "/sys/fs/cgroup/system.slice/cellblock.service",
          .controllers = everything,
          .delegated = Delegated::yes};
}

Cgroup choose(const CgroupChoice& choice, const GroupSight& sight) {
  return choose_group(choice, sight, LookPurpose::start, everything);
}

TEST(ChoiceOfAGroup, TakesTheOwnOneWhenItIsDelegated) {
  const Cgroup cgroup = choose({}, own_unit());
  EXPECT_EQ(cgroup.directory, "/sys/fs/cgroup/system.slice/cellblock.service");
  EXPECT_TRUE(cgroup.memory && cgroup.pids && cgroup.cpu && cgroup.io);
  EXPECT_EQ(cgroup.missing_because, "");
}

TEST(ChoiceOfAGroup, LeavesAGroupAloneThatIsNotDelegatedAndSaysWhatToDo) {
  GroupSight sight = own_unit();
  sight.delegated = Delegated::no;
  const Cgroup cgroup = choose({}, sight);
  EXPECT_EQ(cgroup.directory, "");
  EXPECT_FALSE(cgroup.memory || cgroup.pids || cgroup.cpu || cgroup.io);
  EXPECT_THAT(cgroup.missing_because, HasSubstr("Delegate=yes"));
  EXPECT_THAT(cgroup.missing_because, HasSubstr("daemon.cgroup"));
}

TEST(ChoiceOfAGroup, TakesANamedOneWithoutDelegation) {
  GroupSight sight = own_unit();
  sight.directory = "/sys/fs/cgroup/cellblock";
  sight.delegated = Delegated::no;
  EXPECT_EQ(choose({Way::path, "/sys/fs/cgroup/cellblock"}, sight).directory, sight.directory);
}

TEST(ChoiceOfAGroup, NeverTakesOneWithOtherProcesses) {
  GroupSight sight = own_unit();
  sight.others = OtherProcesses::some;
  EXPECT_EQ(choose({}, sight).directory, "");
  EXPECT_THAT(choose({Way::path, sight.directory}, sight).missing_because,
              HasSubstr("other processes"));
}

TEST(ChoiceOfAGroup, NamesTheControllersThatAreNotThere) {
  GroupSight sight = own_unit();
  sight.controllers = "hugetlb pids\n";
  const Cgroup cgroup = choose({}, sight);
  EXPECT_EQ(cgroup.directory, sight.directory);
  EXPECT_TRUE(cgroup.pids);
  EXPECT_FALSE(cgroup.memory || cgroup.cpu || cgroup.io);
  EXPECT_THAT(cgroup.missing_because, HasSubstr("memory, cpu, io"));
}

TEST(ChoiceOfAGroup, PassesOnWhyANamedOneCannotBeUsed) {
  const GroupSight sight{.directory = "/tmp", .problem = "/tmp is not a cgroup"};
  const Cgroup cgroup = choose({Way::path, "/tmp"}, sight);
  EXPECT_EQ(cgroup.directory, "");
  EXPECT_EQ(cgroup.missing_because, "/tmp is not a cgroup");
}

TEST(ChoiceOfAGroup, CanBeNone) {
  const Cgroup cgroup = choose({Way::none, ""}, own_unit());
  EXPECT_EQ(cgroup.directory, "");
  EXPECT_THAT(cgroup.missing_because, HasSubstr("none"));
}

TEST(ChoiceOfAGroup, InACheckExpectsWhatTheHostHas) {
  const GroupSight shell{.directory = "/sys/fs/cgroup/user.slice", .controllers = ""};
  const Cgroup cgroup = choose_group({}, shell, LookPurpose::check, "cpu memory pids\n");
  EXPECT_EQ(cgroup.directory, "auto");
  EXPECT_TRUE(cgroup.memory && cgroup.pids && cgroup.cpu);
  EXPECT_FALSE(cgroup.io);
  EXPECT_THAT(cgroup.missing_because, HasSubstr("io"));
}

TEST(ChoiceOfAGroup, SpeaksOfControllersFirstInTheCheckAndAtTheStartAlike) {
  const GroupSight shell{.directory = "/sys/fs/cgroup/user.slice", .controllers = ""};
  const Cgroup checked = choose_group({}, shell, LookPurpose::check, "hugetlb\n");
  const Cgroup started = choose_group({}, shell, LookPurpose::start, "hugetlb\n");
  EXPECT_EQ(checked, started);
  EXPECT_EQ(checked.directory, "");
  EXPECT_THAT(checked.missing_because, HasSubstr("no controller"));
  EXPECT_THAT(checked.missing_because, Not(HasSubstr("delegate")));
}

TEST(ChoiceOfAGroup, SaysInBothThatNothingIsMounted) {
  const GroupSight nothing{.problem = "no cgroup2 file system is mounted here"};
  for (const auto purpose : {LookPurpose::check, LookPurpose::start}) {
    EXPECT_EQ(choose_group({}, nothing, purpose, "").missing_because, nothing.problem);
  }
}

TEST(TextOfTheChoice, IsAutoNoneOrAPath) {
  EXPECT_EQ(parse_cgroup_choice("auto"), CgroupChoice{});
  EXPECT_EQ(parse_cgroup_choice("none")->way, Way::none);
  EXPECT_EQ(parse_cgroup_choice("/sys/fs/cgroup/x")->path, "/sys/fs/cgroup/x");
  EXPECT_FALSE(parse_cgroup_choice("relative").has_value());
  EXPECT_FALSE(parse_cgroup_choice("").has_value());
}

}  // namespace
}  // namespace cellblock::daemon
