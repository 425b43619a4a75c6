// Whom the host takes a server for.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "supervisor/os/sys.h"
#include "tests/containment/containment_fixture.h"
#include "tests/containment/launcher_process.h"

namespace cellblock::containment {
namespace {

class RunningAs : public Containment {
 protected:
  void SetUp() override { NEEDS_ROOT_OUTSIDE(); }

  CellSpec writing_as(const RunAs& run_as, const std::string& name) const {
    CellSpec spec;
    spec.server.name = "probe";
    spec.server.command = {"/usr/bin/touch", "/home/mcp/" + name};
    spec.server.run_as = run_as;
    return spec;
  }
  void expect_written(const RunAs& run_as, const std::string& name) const {
    const CellRun run = run_in_cell(directory_, writing_as(run_as, name));
    EXPECT_EQ(run.facts.kind, EndKind::exited) << line_of(run);
    EXPECT_EQ(run.facts.exit_code, 0);
  }
  struct stat status_of(const std::string& name) const {
    struct stat status{};
    EXPECT_EQ(::lstat(directory_.path("state/home/probe/1234/" + name).c_str(), &status), 0);
    return status;
  }
};

TEST_F(RunningAs, ANamedUserOwnsWhatTheServerWrites) {
  const std::uint32_t uid = ids_here().first_cell + 500;
  const std::uint32_t gid = ids_here().first_cell + 501;
  expect_written({.kind = RunAsKind::named, .uid = uid, .gid = gid}, "file");
  EXPECT_EQ(status_of("file").st_uid, uid);
  EXPECT_EQ(status_of("file").st_gid, gid);
}

TEST_F(RunningAs, AHomeFollowsAServerThatRunsAsAnotherNow) {
  expect_written({}, "first");
  EXPECT_EQ(status_of("first").st_uid, ids_here().first_cell);
  const std::uint32_t id = ids_here().first_cell + 500;
  expect_written({.kind = RunAsKind::named, .uid = id, .gid = id}, "second");
  EXPECT_EQ(status_of("first").st_uid, id);
  EXPECT_EQ(status_of(".").st_uid, id);
  expect_written({}, "third");
  EXPECT_EQ(status_of("second").st_uid, ids_here().first_cell);
}

TEST_F(RunningAs, NobodyWhomTheLauncherCannotBeStartsAServer) {
  for (const RunAs& run_as :
       {RunAs{.kind = RunAsKind::client}, RunAs{.kind = RunAsKind::named, .user = "root"}}) {
    const CellRun run = run_in_cell(directory_, writing_as(run_as, "file"));
    EXPECT_EQ(run.facts.step, SetupStep::assign_id) << line_of(run);
    EXPECT_EQ(run.facts.error, EPERM);
  }
}

// --- the command's file --------------------------------------------------------------------------

class Stamped : public Containment {
 protected:
  static FileStamp stamp(const std::string& path) {
    const auto file = open_at(AT_FDCWD, path.c_str(), O_PATH);
    EXPECT_TRUE(file.has_value());
    return stamp_of(*file).value_or(FileStamp{});
  }
};

TEST_F(Stamped, ACommandRunsWhileItIsTheFileThatWasChecked) {
  CellSpec spec = spec_of("create_file", {"/tmp/file"});
  spec.server.command_stamp = stamp(spec.server.command[0]);
  EXPECT_EQ(inside(spec), "allowed");
}

TEST_F(Stamped, ACommandThatChangedDoesNotRun) {
  CellSpec spec = spec_of("create_file", {"/tmp/file"});
  spec.server.command_stamp = stamp(spec.server.command[0]);
  // Kernels before 6.13 date changes by the tick: one in the same tick has the same time.
  while (stamp(spec.server.command[0]) == spec.server.command_stamp) {
    ASSERT_EQ(::chmod(spec.server.command[0].c_str(), 0555), 0);
  }
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.facts.step, SetupStep::prepare) << line_of(run);
  EXPECT_EQ(run.facts.detail, ExecDetail::command_changed);
  EXPECT_EQ(run.facts.error, ESTALE);
}

}  // namespace
}  // namespace cellblock::containment
