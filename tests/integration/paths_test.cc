// Declared paths in directories that are not root's: who moves or replaces one breaks the server
// that declares it, and nothing else; and what a cell may only read, it cannot put elsewhere.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "tests/integration/daemon.h"
#include "tests/integration/python_runner.h"

namespace cellblock::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Paths : public testing::TestWithParam<Mode> {
 protected:
  Paths() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: directories of several users";
    if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs /usr/bin/python3";
    script_ = daemon_.directory().write("server/runner.py", python_runner);
  }

  std::string path(const std::string& name) const { return daemon_.directory().path(name); }

  std::string table(const std::string& name, const std::string& paths) const {
    return server_table(
        daemon_, name, {"/usr/bin/python3", script_},
        fmt::format("profile = \"python\"\nprogram = \"{}\"\n{}\n", path("server"), paths));
  }

  /// A directory that everybody can change: in system mode cells have uids of their own.
  void make_open(const std::string& name) const {
    daemon_.directory().make_directory(name);
    fs::permissions(path(name), fs::perms::all);
  }

  std::string run(Host& host, const std::string& code) {
    return host.call_for_text("run", {{"code", code}});
  }

  json status_of(const std::string& server) {
    Host host = daemon_.connect();
    const json answer = host.request("cellblock/status");
    for (const json& one : answer["result"]["servers"]) {
      if (one["name"] == server) return one;
    }
    return {};
  }

  std::string reload() {
    const User whoever = GetParam() == Mode::system ? User{0, 0, {}} : daemon_.user();
    const auto process = daemon_.command({"reload", "--config", path("cellblock.toml")}, whoever);
    EXPECT_EQ(process->wait(), 0) << process->errors().all();
    return process->output().all();
  }

  std::string attach_error() {
    Host host = daemon_.connect();
    const json answer = host.attach("moved");
    return answer.contains("error") ? answer["error"]["message"].get<std::string>() : "";
  }

  Daemon daemon_;
  std::string script_;
};

// --- who breaks a path breaks one server ---------------------------------------------------------

/// "moved" has a path in a directory that cells can write, and "well" has not.
class MovedPaths : public Paths {
 protected:
  void SetUp() override {
    Paths::SetUp();
    if (IsSkipped()) return;
    make_open("open");
    make_open("open/project");
  }

  std::string tables() const {
    return table("moved", fmt::format("write = [\"{}\"]", path("open/project"))) +
           table("keeper", fmt::format("write = [\"{}\"]", path("open"))) + table("well", "");
  }

  void start() { daemon_.start({.mode = GetParam(), .servers = tables()}); }

  void expect_broken(const std::string& why) {
    start();
    if (HasFatalFailure()) return;
    EXPECT_THAT(daemon_.log(), HasSubstr(why));
    EXPECT_THAT(attach_error(), HasSubstr(why));
    EXPECT_THAT(attach_error(), HasSubstr("cellblock reload"));
    EXPECT_EQ(status_of("moved")["state"], "broken");
    EXPECT_THAT(status_of("moved")["broken"].get<std::string>(), HasSubstr(why));
    Host host = daemon_.connect();
    host.open_session("well");
    EXPECT_EQ(run(host, "said = 'here'"), "here");
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, MovedPaths, testing::Values(Mode::system, Mode::user),
                         name_of_mode);

TEST_P(MovedPaths, ThatAreMissingAtAStartBreakTheirServerAlone) {
  fs::rename(path("open/project"), path("open/old"));
  expect_broken("does not exist");
}

TEST_P(MovedPaths, ThatBecameALinkToAForbiddenPlaceBreakTheirServerAlone) {
  fs::remove(path("open/project"));
  fs::create_directory_symlink("/etc", path("open/project"));
  expect_broken("leads to /etc");
}

TEST_P(MovedPaths, ThatACellMovesBreakNoReload) {
  start();
  ASSERT_FALSE(HasFatalFailure());
  Host host = daemon_.connect();
  host.open_session("keeper");
  EXPECT_EQ(run(host, fmt::format("os.rename('{0}/project', '{0}/old')", path("open"))), "done");
  EXPECT_THAT(reload(), HasSubstr("server moved: what is found at its paths"));
  EXPECT_THAT(attach_error(), HasSubstr("does not exist"));
  EXPECT_EQ(run(host, "said = 'here'"), "here");
}

TEST_P(MovedPaths, AreUsedAgainAfterAReloadOnceTheyAreBack) {
  fs::rename(path("open/project"), path("open/old"));
  start();
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_THAT(attach_error(), HasSubstr("does not exist"));
  fs::rename(path("open/old"), path("open/project"));
  reload();
  Host host = daemon_.connect();
  host.open_session("moved");
  EXPECT_EQ(run(host, fmt::format("open('{}/new', 'w')", path("open/project"))), "done");
  EXPECT_EQ(status_of("moved")["state"], "ready");
}

TEST_P(MovedPaths, LeaveTheCellsAloneThatRunWithThem) {
  start();
  ASSERT_FALSE(HasFatalFailure());
  Host host = daemon_.connect();
  host.open_session("moved");
  EXPECT_EQ(run(host, fmt::format("open('{}/one', 'w')", path("open/project"))), "done");
  fs::rename(path("open/project"), path("open/old"));
  reload();
  EXPECT_EQ(run(host, fmt::format("said = os.listdir('{}')", path("open/project"))), "['one']");
}

// --- a read path inside a write path -------------------------------------------------------------

class ReadInWrite : public Paths {
 protected:
  void SetUp() override {
    Paths::SetUp();
    if (IsSkipped()) return;
    for (const char* name : {"rw", "rw/a", "rw/a/b", "rw/a/b/ro"}) make_open(name);
    daemon_.directory().write("rw/a/b/ro/file", "mine");
    daemon_.start(
        {.mode = GetParam(),
         .servers = table("nested",
                          fmt::format("write = [\"{0}\"]\nread = [\"{0}/a/b/ro\"]", path("rw")))});
    if (HasFatalFailure()) return;
    host_.emplace(daemon_.connect());
    host_->open_session("nested");
  }

  std::string in_cell(const std::string& code) { return run(*host_, code); }

  std::optional<Host> host_;
};

INSTANTIATE_TEST_SUITE_P(Modes, ReadInWrite, testing::Values(Mode::system, Mode::user),
                         name_of_mode);

TEST_P(ReadInWrite, CannotBeMovedAwayByAnyDirectoryAboveIt) {
  for (const char* name : {"rw/a/b/ro", "rw/a/b", "rw/a"}) {
    EXPECT_EQ(in_cell(fmt::format("os.rename('{0}', '{0}-moved')", path(name))), "EBUSY");
    EXPECT_NE(in_cell(fmt::format("os.rename('{}', '{}')", path(name), path("rw/moved"))), "done");
  }
  EXPECT_EQ(in_cell(fmt::format("open('{}', 'w')", path("rw/a/b/ro/file"))), "EROFS");
}

TEST_P(ReadInWrite, LeavesTheDirectoriesAroundItWritable) {
  EXPECT_EQ(in_cell(fmt::format("open('{}', 'w').write('x')", path("rw/a/b/new"))), "done");
  EXPECT_TRUE(fs::exists(path("rw/a/b/new")));
  EXPECT_EQ(in_cell(fmt::format("os.mkdir('{0}'); os.rename('{0}', '{1}')", path("rw/a/one"),
                                path("rw/a/two"))),
            "done");
}

}  // namespace
}  // namespace cellblock::harness
