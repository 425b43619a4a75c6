// What cellblockd does not start without, and what it becomes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "policy/base/build_id.h"
#include "tests/integration/daemon.h"
#include "tests/integration/left_behind.h"

namespace cellblock::harness {
namespace {

TEST(Start, NeedsEveryProgramOfItsOwn) {
  if (!running_as_root()) GTEST_SKIP() << "only root can cover a file";
  for (const std::string name :
       {"cellblock-supervisor", "cellblock-launcher", "cellblock-gateway", "cellblock-audit",
        "cellblock-egress", "cellblock-probe", "cellblock-http", "cellblock-metrics"}) {
    Daemon daemon{Mode::system};
    const auto& directory = daemon.directory();
    const std::string cover = directory.write("cover", "");  // not executable
    const std::string metrics =
        "[metrics]\nsocket = \"" + directory.path("run/metrics.sock") + "\"\n";
    const std::string said = daemon.start_in_vain(
        {.servers = server_of_build(daemon, "echo", "echo_server") + http_table(daemon) + metrics,
         .overlays = {{cover, directory.path("bin/" + name)}}});
    EXPECT_THAT(said, testing::HasSubstr(directory.path("bin/" + name) + ": Permission denied"));
  }
}

TEST(Start, TakesNoHelperOfAnotherBuild) {
  if (!running_as_root()) GTEST_SKIP() << "only root can cover a file";
  Daemon daemon{Mode::system};
  const auto& directory = daemon.directory();
  const auto gateway = directory.path("bin/cellblock-gateway");
  const std::string other = directory.path("other");
  std::filesystem::copy_file(CELLBLOCK_TEST_BIN "/cellblock-gateway", other);
  std::fstream file(other, std::ios::binary | std::ios::in | std::ios::out);
  std::string head(build_id_within, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const auto id = build_id_in(head).value_or("");
  ASSERT_NE(id, "");
  file.seekp(static_cast<std::streamoff>(head.find(id)));
  file.put('9');
  file.close();
  const std::string said = daemon.start_in_vain(
      {.servers = server_of_build(daemon, "echo", "echo_server"), .overlays = {{other, gateway}}});
  EXPECT_THAT(said, testing::HasSubstr(gateway + ": it is of build 9" + id.substr(1) +
                                       ", and cellblockd of build " + id));
}

TEST(Question, FailsWhereItsAnswerCannotBeWritten) {
  for (const std::string target : {"/dev/full", "&-"}) {
    Process daemon({.command = {"/bin/sh", "-c", "exec \"$0\" --keys --markdown >" + target,
                                CELLBLOCK_TEST_BIN "/cellblockd"},
                    .environment = {"ASAN_OPTIONS=detect_leaks=0"}});
    EXPECT_EQ(WEXITSTATUS(daemon.wait().value_or(0)), 1) << target;
  }
}

TEST(Start, OfTheSupervisorIsCellblockdsAlone) {
  Process supervisor({.command = {CELLBLOCK_TEST_BIN "/cellblock-supervisor"},
                      .environment = {"ASAN_OPTIONS=detect_leaks=0"}});
  EXPECT_NE(supervisor.wait(), 0);
  EXPECT_THAT(supervisor.errors().all(),
              testing::HasSubstr("cellblock-supervisor is executed by cellblockd alone: "));
}

TEST(Start, LeavesNoProcessWhereTheSupervisorEndsAtOnce) {
  if (!running_as_root()) GTEST_SKIP() << "only root can cover a file";
  become_reaper();
  Daemon daemon{Mode::system};
  // Of the same build, and not what is started so: it ends. The launcher waits for its word by
  // then.
  const std::string supervisor = daemon.directory().path("bin/cellblock-supervisor");
  daemon.start_in_vain({.servers = server_of_build(daemon, "echo", "echo_server"),
                        .overlays = {{CELLBLOCK_TEST_BIN "/cellblock-audit", supervisor}}});
  EXPECT_THAT(daemon.survivors(), testing::IsEmpty());
  // As after a crash; the next start takes its place.
  EXPECT_TRUE(std::filesystem::remove(daemon.socket()));
}

TEST(Start, KeepsTheProcessAndLeavesTheSupervisorNoOtherDescriptors) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: it looks into another user's process";
  Daemon daemon{Mode::system};
  daemon.start({.servers = server_of_build(daemon, "echo", "echo_server")});
  if (HasFatalFailure()) return;
  const std::string process = "/proc/" + std::to_string(daemon.pid());
  EXPECT_EQ(std::filesystem::read_symlink(process + "/exe").filename(), "cellblock-supervisor");
  EXPECT_EQ(status_field(daemon.pid(), "Name"), "cellblock-super");
  // What cellblockd read and opened to read is closed: of files of the host there are those of the
  // audit log, the locked directories, and programs.
  for (const auto& entry : std::filesystem::directory_iterator(process + "/fd")) {
    const std::string target = std::filesystem::read_symlink(entry.path());
    EXPECT_THAT(target, testing::Not(testing::HasSubstr(".toml")));
    EXPECT_THAT(target, testing::Not(testing::HasSubstr("cellblock-secrets")));
  }
}

}  // namespace
}  // namespace cellblock::harness
