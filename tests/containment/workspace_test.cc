// A directory that a host passes in: that one is there, and nothing beside it.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "supervisor/launcher/child/child_setup.h"
#include "supervisor/os/sys.h"
#include "tests/containment/child_process.h"
#include "tests/containment/containment_fixture.h"
#include "tests/containment/launcher_process.h"

namespace cellblock::containment {
namespace {

Fd open_path(const std::string& path) {
  return Fd(::open(path.c_str(), O_PATH | O_CLOEXEC));  // NOLINT: the launcher inherits it
}

class Workspaces : public Containment {
 protected:
  Workspaces()
      : projects_(directory_.make_directory("projects")),
        project_(directory_.make_directory("projects/one")),
        file_(directory_.write("projects/one/file", "text")),
        passed_(open_path(project_)) {
    ::chmod(project_.c_str(), 0777);
    directory_.write("public", "for everybody");
  }

  CellSpec with_workspace(CellSpec spec, Access access = Access::read) const {
    spec.server.workspace = Workspace{.allow = {projects_ + "/**"}, .access = access};
    spec.workspace = passed_.get();
    return spec;
  }

  void expect_refused(const CellSpec& spec, int error) const {
    const CellRun run = run_in_cell(directory_, spec);
    EXPECT_EQ(run.facts.kind, EndKind::setup_failed) << line_of(run);
    EXPECT_EQ(run.facts.step, SetupStep::open_workspace);
    EXPECT_EQ(run.facts.error, error);
  }

  std::string projects_;
  std::string project_;
  std::string file_;
  Fd passed_;
};

TEST_F(Workspaces, AreSeenAtOneFixedPlace) {
  EXPECT_EQ(inside(with_workspace(spec_of("read_file", {"/workspace/file"}))), "allowed");
  EXPECT_EQ(inside(with_workspace(spec_of("read_file", {file_}))), "refused ENOENT");
}

TEST_F(Workspaces, AreWrittenOnlyWhereThatWasDeclared) {
  const Arguments where = {"/workspace/new"};
  EXPECT_CONTAINED(outside("create_file", {project_ + "/new"}),
                   inside(with_workspace(spec_of("create_file", where))), "EROFS");
  EXPECT_EQ(inside(with_workspace(spec_of("create_file", where), Access::write)), "allowed");
}

TEST_F(Workspaces, HoldNothingThatRunsUnlessThatWasDeclared) {
  CellSpec spec = with_workspace(spec_of("run_from_tmp", {"/workspace/program"}), Access::write);
  EXPECT_CONTAINED(outside("run_from_tmp", {project_ + "/program"}), inside(spec), "EACCES");
  spec.server.execute_writable = true;
  EXPECT_EQ(inside(spec), "allowed");
}

TEST_F(Workspaces, AreEmptyWhereNoneWasPassed) {
  CellSpec spec = with_workspace(spec_of("read_file", {"/workspace/file"}));
  spec.workspace = -1;
  EXPECT_EQ(inside(spec), "refused ENOENT");
}

// --- what is no workspace ------------------------------------------------------------------------

TEST_F(Workspaces, AreRefusedToAServerThatHasNone) {
  CellSpec spec = spec_of("read_file", {"/etc/passwd"});
  spec.workspace = passed_.get();
  expect_refused(spec, EPERM);
}

TEST_F(Workspaces, AreRefusedOutsideOfWhatIsAllowed) {
  const Fd other = open_path(directory_.make_directory("elsewhere"));
  CellSpec spec = with_workspace(spec_of("read_file", {"/etc/passwd"}));
  spec.workspace = other.get();
  expect_refused(spec, EPERM);
}

TEST_F(Workspaces, AreDirectories) {
  const Fd file = open_path(file_);
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.has_value());
  CellSpec spec = with_workspace(spec_of("read_file", {"/etc/passwd"}));
  for (const int descriptor : {file.get(), pipe->first.get()}) {
    spec.workspace = descriptor;
    expect_refused(spec, EPERM);
  }
}

TEST_F(Workspaces, AreFoundWhereTheyAreNowAndNotWhatHasTakenTheirPlace) {
  ASSERT_EQ(::rename(project_.c_str(), (projects_ + "/moved").c_str()), 0);
  ASSERT_EQ(::mkdir((projects_ + "/one").c_str(), 0755), 0);
  // The kernel tells where the passed one is now, and there it is found.
  EXPECT_EQ(inside(with_workspace(spec_of("read_file", {"/workspace/file"}))), "allowed");
}

TEST_F(Workspaces, AreNotFoundAnyMoreOnceTheyWereRemoved) {
  const std::string gone = directory_.make_directory("projects/gone");
  const Fd removed = open_path(gone);
  ASSERT_EQ(::rmdir(gone.c_str()), 0);
  CellSpec spec = with_workspace(spec_of("read_file", {"/etc/passwd"}));
  spec.workspace = removed.get();
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.facts.step, SetupStep::open_workspace) << line_of(run);
}

// Somebody with a mount namespace of his own can have any directory at an allowed path there.
TEST_F(Workspaces, AreNotWhatIsMountedAtTheirPlaceElsewhere) {
  NEEDS_ROOT_OUTSIDE();
  const std::string secret = directory_.make_directory("secret", 0700);
  directory_.write("secret/file", "nobody's");
  auto line = make_seqpacket_pair();
  ASSERT_TRUE(line.has_value());
  const pid_t child = ::fork();
  if (child == 0) {
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount(secret.c_str(), project_.c_str(), nullptr, MS_BIND, nullptr) == 0;
    const int faked = mounted ? open_path(project_).release() : -1;
    char byte = 'f';
    line->first.reset();
    if (!send_record(line->second.get(), byte, std::span(&faked, 1))) ::_exit(1);
    // With its namespace the mount would go, and with that the path.
    ::_exit(::read(line->second.get(), &byte, 1) == 0 ? 0 : 1);
  }
  line->second.reset();
  char byte = 0;
  auto received = receive_record(line->first.get(), byte);
  ASSERT_TRUE(received.has_value());
  ASSERT_EQ(received->fds.size(), 1U);
  CellSpec spec = with_workspace(spec_of("read_file", {"/workspace/file"}));
  spec.workspace = received->fds[0].get();
  expect_refused(spec, ESTALE);
  line->first.reset();
  ::waitpid(child, nullptr, 0);
}

// --- ways out ------------------------------------------------------------------------------------

TEST_F(Workspaces, CannotBeClimbedOutOf) {
  EXPECT_CONTAINED(outside("read_file", {project_ + "/../../public"}),
                   inside(with_workspace(spec_of("read_file", {"/workspace/../../public"}))),
                   "ENOENT");
}

TEST_F(Workspaces, HoldNoLinkThatLeadsOut) {
  ASSERT_EQ(::symlink("../../public", (project_ + "/link").c_str()), 0);
  EXPECT_CONTAINED(outside("read_file", {project_ + "/link"}),
                   inside(with_workspace(spec_of("read_file", {"/workspace/link"}))), "ENOENT");
}

TEST_F(Workspaces, CannotBeGivenAFileFromElsewhereInTheCell) {
  const std::string given = directory_.make_directory("given");
  ::chmod(given.c_str(), 0777);
  directory_.write("given/file", "text");
  ASSERT_EQ(::chmod((given + "/file").c_str(), 0666), 0);
  CellSpec spec =
      with_workspace(spec_of("link_file", {given + "/file", "/workspace/other"}), Access::write);
  spec.server.binds.push_back({given, given, Access::write});
  EXPECT_CONTAINED(outside("link_file", {given + "/file", project_ + "/name"}), inside(spec),
                   "EXDEV");
}

// --- a parent that is swapped for a link all the time --------------------------------------------

struct Swapped {
  std::string parent;  ///< now this directory, now a link to `decoy`
  std::string aside;
  std::string decoy;
};

[[noreturn]] void swap_for_ever(const Swapped& names) {
  const std::string link = names.parent + ".link";
  if (::symlink(names.decoy.c_str(), link.c_str()) < 0) ::_exit(1);
  while (true) {
    ::rename(names.parent.c_str(), names.aside.c_str());
    ::rename(link.c_str(), names.parent.c_str());
    ::rename(names.parent.c_str(), link.c_str());
    ::rename(names.aside.c_str(), names.parent.c_str());
  }
}

/// "0 wrong" and how often it was found and refused.
int try_often(int output, const std::string& root, int passed) {
  struct stat wanted{};
  if (::fstat(passed, &wanted) < 0 || ::unshare(CLONE_NEWNS) < 0) return 1;
  launcher::DirectoryIdentity identity;
  if (!launcher::identify_directory(passed, identity)) return 1;
  int found = 0;
  int refused = 0;
  int wrong = 0;
  for (int i = 0; i < 1'000; ++i) {
    launcher::ChildPlan plan;
    plan.workspace = {
        .passed = true, .identity = identity, .root = root.c_str(), .below = "parent/inner"};
    if (!launcher::open_workspace(plan)) {
      ++refused;
      continue;
    }
    const Fd tree(plan.workspace.tree);
    struct stat got{};
    const bool same = ::fstat(tree.get(), &got) == 0 && got.st_ino == wanted.st_ino;
    ++(same ? found : wrong);
  }
  ::dprintf(output, "%d wrong, %d tried", wrong, found + refused + wrong);
  return 0;
}

TEST_F(Workspaces, AreThePassedDirectoryOrNoneWhileAParentIsSwapped) {
  directory_.make_directory("projects/parent");
  const Fd passed = open_path(directory_.make_directory("projects/parent/inner"));
  directory_.make_directory("decoy");
  directory_.make_directory("decoy/inner");
  const pid_t swapper = ::fork();
  if (swapper == 0) {
    swap_for_ever({directory_.path("projects/parent"), directory_.path("projects/aside"),
                   directory_.path("decoy")});
  }
  const ChildResult result =
      run_as_launcher([&](int output) { return try_often(output, projects_, passed.get()); });
  ::kill(swapper, SIGKILL);
  ::waitpid(swapper, nullptr, 0);
  EXPECT_EQ(result.output, "0 wrong, 1000 tried") << result.end;
}

}  // namespace
}  // namespace cellblock::containment
