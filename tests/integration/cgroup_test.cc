// cellblockd and control groups: what it makes of a group that it is given, and of one that it is
// not.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "tests/integration/daemon.h"
#include "tests/integration/inhabitant.h"

namespace cellblock::harness {
namespace {

using testing::HasSubstr;

std::string read_whole(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Where cgroup2 is mounted; empty: nowhere.
std::string cgroup2_mount() {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    std::istringstream words(line);
    std::string word;
    for (int field = 0; field < 5; ++field) words >> word;
    return word;
  }
  return {};
}

void remove_group(const std::filesystem::path& path) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_directory(error)) remove_group(entry.path());
  }
  ::rmdir(path.c_str());
}

class DaemonInAGroup : public testing::Test {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "only root can make a control group here";
    if (cgroup2_mount().empty()) GTEST_SKIP() << "no cgroup2 file system is mounted here";
    group_ = fmt::format("{}/cellblock-test-{}", cgroup2_mount(), ::getpid());
    daemon_.emplace();
  }
  void TearDown() override {
    daemon_.reset();
    if (!group_.empty()) remove_group(group_);
  }

  bool has_memory() const {
    const std::string passed_on = read_whole(cgroup2_mount() + "/cgroup.subtree_control");
    return passed_on.find("memory") != std::string::npos;
  }
  DaemonOptions options(std::string_view more) const {
    return {.servers = server_of_build(*daemon_, "echo", "echo_server", {}, more),
            .daemon_extra = fmt::format("cgroup = \"{}\"", group_)};
  }

  std::string group_;
  std::optional<Daemon> daemon_;
};

TEST_F(DaemonInAGroup, LivesBesideItsCellsAndRemovesTheirs) {
  daemon_->start(options(""));
  ASSERT_FALSE(HasFatalFailure());
  Host host = daemon_->connect();
  host.open_session("echo");
  EXPECT_EQ(host.call_for_text("echo", {{"text", "hello"}}), "hello");
  const std::string own = read_whole(group_ + "/supervisor/cgroup.procs");
  EXPECT_THAT(own, HasSubstr(std::to_string(daemon_->pid())));
  const std::string in_cell = read_whole(group_ + "/cells/echo-1/cgroup.procs");
  EXPECT_THAT(in_cell, HasSubstr(std::to_string(daemon_->processes_named("echo_server").at(0))));
  EXPECT_EQ(daemon_->stop(), 0);
  EXPECT_FALSE(std::filesystem::exists(group_ + "/cells/echo-1"));
}

TEST_F(DaemonInAGroup, EndsWithACellWhoeverWasMovedIntoItsGroup) {
  daemon_->start(options(""));
  ASSERT_FALSE(HasFatalFailure());
  Host host = daemon_->connect();
  host.open_session("echo");
  EXPECT_EQ(host.call_for_text("echo", {{"text", "hello"}}), "hello");
  Inhabitant moved(group_ + "/cells/echo-1");
  host.end_input();
  EXPECT_TRUE(moved.is_killed());
  EXPECT_EQ(daemon_->stop(), 0);
}

TEST_F(DaemonInAGroup, ShowsInStatusWhatACellUses) {
  daemon_->start(options(""));
  ASSERT_FALSE(HasFatalFailure());
  Host host = daemon_->connect();
  host.open_session("echo");
  EXPECT_EQ(host.call_for_text("echo", {{"text", "hello"}}), "hello");
  const auto answer = host.request("cellblock/status");
  const auto& cell = answer["result"]["servers"][0]["cells"][0];
  EXPECT_GE(cell.value("processes", 0), 1) << answer;
  EXPECT_TRUE(cell.contains("cpu_ms")) << answer;
  EXPECT_EQ(cell.contains("memory_bytes"), has_memory()) << answer;
  EXPECT_EQ(daemon_->stop(), 0);
}

TEST_F(DaemonInAGroup, LeavesAServerOutWhoseLimitHasNoControllerAndSaysWhy) {
  if (has_memory()) GTEST_SKIP() << "this machine has the controller \"memory\"";
  daemon_->start(options("limits = { memory = \"64MiB\" }"));
  ASSERT_FALSE(HasFatalFailure());
  const std::string said = daemon_->log();
  EXPECT_THAT(said, HasSubstr("limits.memory"));
  EXPECT_THAT(said, HasSubstr("cannot be enforced"));
  EXPECT_THAT(said, HasSubstr("no controller for memory"));
  EXPECT_THAT(said, HasSubstr("limits.require = false"));
}

TEST_F(DaemonInAGroup, StartsWithoutALimitThatIsWaivedAndShowsIt) {
  if (has_memory()) GTEST_SKIP() << "this machine has the controller \"memory\"";
  daemon_->start(options("limits = { memory = \"64MiB\", require = false }"));
  ASSERT_FALSE(HasFatalFailure());
  Host host = daemon_->connect();
  host.open_session("echo");
  const std::string status = host.request("cellblock/status").dump();
  EXPECT_THAT(status, HasSubstr("limits.require = false (not enforced: memory)"));
}

TEST_F(DaemonInAGroup, RefusesAGroupThatIsNone) {
  DaemonOptions wrong = options("");
  wrong.daemon_extra = "cgroup = \"/usr\"";
  EXPECT_THAT(daemon_->start_in_vain(wrong), HasSubstr("cgroup2"));
}

TEST_F(DaemonInAGroup, RefusesOneThatOtherProcessesAreIn) {
  DaemonOptions wrong = options("");
  wrong.daemon_extra = fmt::format("cgroup = \"{}\"", cgroup2_mount());
  EXPECT_THAT(daemon_->start_in_vain(wrong), HasSubstr("other processes"));
}

TEST_F(DaemonInAGroup, KillsNothingThatItDidNotMakeAndSaysSo) {
  std::filesystem::create_directories(group_ + "/cells/theirs");
  Inhabitant neighbour(group_ + "/cells/theirs");
  EXPECT_THAT(daemon_->start_in_vain(options("")), HasSubstr("/cells has groups or processes"));
  EXPECT_TRUE(neighbour.end());
}

TEST_F(DaemonInAGroup, SaysInTheCheckThatThereIsWhatItDidNotMake) {
  std::filesystem::create_directories(group_ + "/cells/theirs");
  daemon_->start_in_vain(options(""));
  Process::Options check;
  check.command = {daemon_->directory().path("bin/cellblockd"), "--config",
                   daemon_->directory().path("cellblock.toml"), "--check"};
  Process process(check);
  EXPECT_NE(process.wait(), 0);
  EXPECT_THAT(process.output().all(), HasSubstr("/cells has groups or processes"));
}

TEST_F(DaemonInAGroup, EndsAndRemovesWhatAPredecessorLeftHoweverNested) {
  daemon_->start(options(""));
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(daemon_->stop(), 0);
  const std::string depth = group_ + "/cells/cgroup.max.depth";
  std::ofstream(depth) << "max" << std::flush;
  std::filesystem::create_directories(group_ + "/cells/echo-1/.below/further");
  Inhabitant left(group_ + "/cells/echo-1/.below/further");
  std::ofstream(depth) << "1" << std::flush;
  daemon_->start(options(""));
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_FALSE(left.end());
  EXPECT_FALSE(std::filesystem::exists(group_ + "/cells/echo-1"));
}

// In a container that masks parts of /proc.
TEST(DaemonWithACoveredProc, DoesNotStartAndSaysWhatToDo) {
  if (!running_as_root()) GTEST_SKIP() << "only root can cover a file";
  Daemon daemon;
  const std::string said =
      daemon.start_in_vain({.servers = server_of_build(daemon, "echo", "echo_server"),
                            .overlays = {{"/dev/null", "/proc/timer_list"}}});
  EXPECT_THAT(said, HasSubstr("mount_proc"));
  EXPECT_THAT(said, HasSubstr("Operation not permitted"));
  EXPECT_THAT(said, HasSubstr("systempaths=unconfined"));
}

}  // namespace
}  // namespace cellblock::harness
