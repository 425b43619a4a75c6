#include "supervisor/launcher/prepare/group_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cellblock::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Cgroup with_everything() {
  return {.directory = "/g", .memory = true, .pids = true, .cpu = true, .io = true};
}

Server limited() {
  Server server;
  server.limits.memory_bytes = 512U << 20;
  server.limits.cpu = 1.5;
  server.limits.pids = 100;
  return server;
}

TEST(SettingsOfAGroup, AreTheLimitsOfItsServer) {
  EXPECT_THAT(
      group_settings(limited(), with_everything()),
      ElementsAre(GroupSetting{"memory.oom.group", "1"}, GroupSetting{"memory.max", "536870912"},
                  GroupSetting{"memory.swap.max", "0"}, GroupSetting{"pids.max", "102"},
                  GroupSetting{"cpu.max", "150000 100000"}));
}

TEST(SettingsOfAGroup, WithoutLimitsStillEndTheWholeCellWhenMemoryRunsOut) {
  EXPECT_THAT(group_settings(Server{}, with_everything()),
              ElementsAre(GroupSetting{"memory.oom.group", "1"}, GroupSetting{"pids.max", "258"}));
}

TEST(SettingsOfAGroup, AreNoneWhereThereAreNoControllersAndNoLimits) {
  EXPECT_THAT(group_settings(Server{}, Cgroup{.directory = "/g"}), IsEmpty());
}

TEST(SettingsOfAGroup, KeepARequiredLimitWhoseControllerIsMissingSoThatTheStartFails) {
  EXPECT_THAT(
      group_settings(limited(), Cgroup{.directory = "/g"}),
      ElementsAre(GroupSetting{"memory.max", "536870912"}, GroupSetting{"memory.swap.max", "0"},
                  GroupSetting{"cpu.max", "150000 100000"}));
}

TEST(SettingsOfAGroup, LeaveOutOnlyWhatIsWaivedAndMissing) {
  Server server = limited();
  server.limits.enforcement = Enforcement::best_effort;
  EXPECT_THAT(group_settings(server, Cgroup{.directory = "/g", .cpu = true}),
              ElementsAre(GroupSetting{"cpu.max", "150000 100000"}));
}

TEST(SettingsOfAGroup, RoundMemoryToWholePagesOfAnySize) {
  Server server;
  server.limits.memory_bytes = (5U << 20) + 100;
  server.limits.swap_bytes = 65'537;
  const auto settings = group_settings(server, Cgroup{.directory = "/g"});
  EXPECT_THAT(settings, ElementsAre(GroupSetting{"memory.max", "5242880"},
                                    GroupSetting{"memory.swap.max", "65536"}));
}

TEST(SettingsOfAGroup, AskForNoSmallerShareThanTheKernelTakes) {
  Server server;
  server.limits.cpu = 0.001;
  EXPECT_THAT(group_settings(server, Cgroup{.directory = "/g", .cpu = true}),
              ElementsAre(GroupSetting{"cpu.max", "1000 100000"}));
}

TEST(SettingsOfAGroup, LimitEachDisk) {
  Server server;
  server.limits.io_write = 1'000'000;
  server.disks = {{8, 0}, {259, 1}};
  EXPECT_THAT(group_settings(server, Cgroup{.directory = "/g", .io = true}),
              ElementsAre(GroupSetting{"io.max", "8:0 rbps=max wbps=1000000"},
                          GroupSetting{"io.max", "259:1 rbps=max wbps=1000000"}));
  server.limits.io_read = 5;
  server.disks = {{8, 0}};
  EXPECT_THAT(group_settings(server, Cgroup{.directory = "/g", .io = true}),
              ElementsAre(GroupSetting{"io.max", "8:0 rbps=5 wbps=1000000"}));
}

TEST(ReadingBack, AcceptsWhatWasWritten) {
  EXPECT_TRUE(holds("536870912\n", {"memory.max", "536870912"}));
  EXPECT_TRUE(holds("150000 100000\n", {"cpu.max", "150000 100000"}));
  EXPECT_TRUE(
      holds("8:16 rbps=1 wbps=max riops=max wiops=max\n"
            "8:0 rbps=max wbps=7 riops=max wiops=max\n",
            {"io.max", "8:0 rbps=max wbps=7"}));
}

TEST(ReadingBack, RefusesAnythingElse) {
  EXPECT_FALSE(holds("max\n", {"memory.max", "4096"}));
  EXPECT_FALSE(holds("40960\n", {"memory.max", "4096"}));
  EXPECT_FALSE(holds("", {"pids.max", "1"}));
}

TEST(UsageOfAGroup, IsReadFromTheKernelsFiles) {
  const UsageTexts texts{
      .cpu_stat = "usage_usec 123456\nuser_usec 100000\nsystem_usec 23456\n",
      .memory_events = "low 0\nhigh 0\nmax 17\noom 1\noom_kill 3\noom_group_kill 1\n",
      .memory_peak = "8388608\n",
      .pids_peak = "12\n"};
  EXPECT_EQ(
      usage_of(texts),
      (GroupUsage{
          .cpu_microseconds = 123'456, .memory_peak = 8'388'608, .pids_peak = 12, .oom_kills = 3}));
}

TEST(UsageOfAGroup, IsUnknownWithoutFiles) { EXPECT_EQ(usage_of({}), GroupUsage{}); }

TEST(PresentUsageOfAGroup, IsReadFromTheKernelsFiles) {
  const UsageNowTexts texts{.cpu_stat = "usage_usec 123456\nuser_usec 100000\n",
                            .memory_current = "4096000\n",
                            .memory_peak = "8388608\n",
                            .pids_current = "13\n",
                            .threads = "",
                            .pressure = {}};
  EXPECT_EQ(usage_now_of(texts), (GroupUsageNow{.memory = 4'096'000,
                                                .memory_peak = 8'388'608,
                                                .cpu_microseconds = 123'456,
                                                .tasks = 11,
                                                .pressure = {}}));
}

TEST(PresentUsageOfAGroup, CountsTasksByItselfWhereNoControllerDoes) {
  const UsageNowTexts texts{.cpu_stat = "usage_usec 5\n",
                            .memory_current = "",
                            .memory_peak = "",
                            .pids_current = "",
                            .threads = "100\n101\n102\n",
                            .pressure = {}};
  EXPECT_EQ(usage_now_of(texts),
            (GroupUsageNow{.cpu_microseconds = 5, .tasks = 1, .pressure = {}}));
}

TEST(PressureOnAGroup, IsWhatSomeOfItsProcessesWaitedInTheLastTenSeconds) {
  const std::string some = "some avg10=12.05 avg60=40.00 avg300=1.00 total=123456\n";
  const UsageNowTexts texts{.cpu_stat = "",
                            .memory_current = "",
                            .memory_peak = "",
                            .pids_current = "",
                            .threads = "",
                            .pressure = {.memory = some + "full avg10=99.00 avg60=0.00\n",
                                         .cpu = "some avg10=0.00 avg60=0.00\n",
                                         .io = "some avg10=100.00 avg60=0.00\n"}};
  EXPECT_EQ(usage_now_of(texts).pressure, (GroupPressure{.memory = 12'05, .cpu = 0, .io = 100'00}));
}

TEST(PressureOnAGroup, IsUnknownWhereTheKernelDoesNotTell) {
  UsageNowTexts texts;
  texts.pressure = {.memory = "", .cpu = "full avg10=1.00\n", .io = "some avg10="};
  EXPECT_EQ(usage_now_of(texts).pressure, GroupPressure{});
}

TEST(PresentUsageOfAGroup, IsUnknownWithoutFiles) { EXPECT_EQ(usage_now_of({}), GroupUsageNow{}); }

}  // namespace
}  // namespace cellblock::launcher
