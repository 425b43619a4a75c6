#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>

#include "supervisor/handover/launcher_process.h"
#include "supervisor/process/children.h"
#include "supervisor/process/spawn.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds plenty{30'000};
constexpr milliseconds none{0};

Fd sealed(std::string_view text) {
  return make_sealed("test", std::as_bytes(std::span(text))).value();
}

class LauncherProcessTest : public ::testing::Test {
 protected:
  LauncherProcessTest() { EXPECT_TRUE(adopt_children()); }

  static LauncherProcess start(std::string_view word) {
    const Fd config = sealed(word);
    const Fd secrets = sealed("");
    const Fd program = open_program(FAKE_LAUNCHER).value();
    const std::array<int, 2> fds{config.get(), secrets.get()};
    return LauncherProcess::start(program.get(), fds).value();
  }

  static std::string why_not_ready(LauncherProcess& launcher, milliseconds patience = plenty) {
    const auto made = launcher.await(wire::LauncherReportKind::user_namespace_made, patience);
    return made ? "" : made.error().text;
  }
};

TEST_F(LauncherProcessTest, HearsALauncherThatStarts) {
  LauncherProcess launcher = start("well");
  EXPECT_EQ(why_not_ready(launcher), "");
  EXPECT_TRUE(launcher.end(plenty));
}

TEST_F(LauncherProcessTest, GivesItItsDescriptorsAndNothingElse) {
  // Not close-on-exec: only the spawn itself can keep it from the launcher.
  const Fd leak(::dup(STDERR_FILENO));
  LauncherProcess launcher = start("look-for-leaks");
  EXPECT_EQ(why_not_ready(launcher), "");
}

TEST_F(LauncherProcessTest, SaysWithWhichCodeALauncherExitedAtTheStart) {
  LauncherProcess launcher = start("exit-3");
  EXPECT_THAT(why_not_ready(launcher), HasSubstr("exited with code 3"));
}

TEST_F(LauncherProcessTest, SaysWhichSignalKilledALauncherAtTheStart) {
  LauncherProcess launcher = start("abort");
  EXPECT_THAT(why_not_ready(launcher), HasSubstr("killed by signal 6"));
}

TEST_F(LauncherProcessTest, RefusesARecordOfTheWrongSize) {
  LauncherProcess launcher = start("nonsense");
  EXPECT_THAT(why_not_ready(launcher), HasSubstr("nonsense"));
}

TEST_F(LauncherProcessTest, RefusesAReportOutOfTurn) {
  LauncherProcess launcher = start("ready-first");
  EXPECT_THAT(why_not_ready(launcher), HasSubstr("report 2 where 1 was due"));
}

TEST_F(LauncherProcessTest, RefusesALauncherThatShowsNoUserNamespace) {
  LauncherProcess launcher = start("no-namespace");
  EXPECT_THAT(why_not_ready(launcher), HasSubstr("lacks what comes with it"));
}

TEST_F(LauncherProcessTest, GivesUpOnALauncherThatSaysNothing) {
  LauncherProcess launcher = start("silent");
  EXPECT_THAT(why_not_ready(launcher, milliseconds{1}), HasSubstr("did not answer"));
}

TEST_F(LauncherProcessTest, KillsALauncherThatDoesNotEnd) {
  LauncherProcess launcher = start("silent");
  EXPECT_TRUE(launcher.end(none));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(LauncherProcessTest, SaysWhyAProgramCannotBeExecuted) {
  const Fd no_program = open_program("/etc/passwd").value();
  const auto launcher = LauncherProcess::start(no_program.get(), {});
  ASSERT_FALSE(launcher);
  EXPECT_THAT(launcher.error().text, HasSubstr("execveat: Permission denied"));
}

}  // namespace
}  // namespace cellblock::daemon
