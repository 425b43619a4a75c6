#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <string>

#include "supervisor/process/hidden_memory.h"
#include "supervisor/process/privileges.h"

/// What is given up cannot be had back, so each case runs in a child of its own, as root.
namespace cellblock::daemon {
namespace {

using ::testing::HasSubstr;

constexpr uid_t daemon_id = 64'001;
constexpr uid_t cell_id = 200'000;

/// What the child's `body` returns: empty is success. Read through a pipe, since it is another
/// process.
std::string in_child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = body();
    const ssize_t written = ::write(ends[1], text.data(), text.size());
    ::_exit(written < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 512> buffer{};
  for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return text;
}

/// In the order given, which operands of + do not have.
std::string joined(std::initializer_list<std::string> texts) {
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

std::string text_of(const Result<void>& result) { return result ? "" : result.error().text; }

Result<void> become() { return become_daemon_user({daemon_id, daemon_id, {}}); }

Result<void> give_everything_up() {
  CELLBLOCK_CHECK(become());
  CELLBLOCK_CHECK(leave_groups());
  CELLBLOCK_CHECK(forbid_new_privileges());
  return drop_all_capabilities();
}

/// "CapEff:\t…\n" of this process.
std::string status_line(const char* name) {
  FILE* file = std::fopen("/proc/self/status", "re");
  std::array<char, 512> line{};
  std::string found;
  while (std::fgets(line.data(), line.size(), file) != nullptr) {
    if (std::string_view(line.data()).starts_with(name)) found = line.data();
  }
  static_cast<void>(std::fclose(file));
  return found;
}

class PrivilegesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: it gives up what only root has";
  }
};

TEST_F(PrivilegesTest, BecomesTheDaemonsUserWithTheTwoCapabilitiesThatWriteAMap) {
  EXPECT_EQ(in_child([] {
              return joined({text_of(become()), status_line("CapPrm"), status_line("CapEff"),
                             status_line("CapInh"), status_line("CapBnd"), status_line("Uid"),
                             status_line("Gid"), status_line("Groups")});
            }),
            "CapPrm:\t00000000000000c0\nCapEff:\t00000000000000c0\nCapInh:\t0000000000000000\n"
            "CapBnd:\t0000000000000000\nUid:\t64001\t64001\t64001\t64001\n"
            "Gid:\t64001\t64001\t64001\t64001\nGroups:\t \n");
}

TEST_F(PrivilegesTest, StartsAsTheDaemonsUserWithJustTheTwoCapabilities) {
  EXPECT_EQ(in_child([] { return joined({text_of(become()), text_of(become())}); }), "");
}

TEST_F(PrivilegesTest, LeavesNothingInAnySetAndProvesIt) {
  EXPECT_EQ(in_child([] {
              return joined({text_of(give_everything_up()), text_of(prove_powerless(cell_id)),
                             status_line("CapPrm"), status_line("CapEff"), status_line("CapBnd"),
                             status_line("CapAmb"), status_line("NoNewPrivs")});
            }),
            "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
            "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\n");
}

TEST_F(PrivilegesTest, FindsACapabilityThatWasKept) {
  EXPECT_THAT(in_child([] {
                return joined({text_of(become()), text_of(forbid_new_privileges()),
                               text_of(prove_powerless(cell_id))});
              }),
              HasSubstr("a capability is left"));
}

TEST_F(PrivilegesTest, FindsASavedUserIdThatLeadsBackToRoot) {
  EXPECT_THAT(
      in_child([] {
        const bool kept = ::setresuid(daemon_id, daemon_id, 0) == 0;
        return joined({kept ? "" : "setresuid", text_of(forbid_new_privileges()),
                       text_of(drop_all_capabilities()), text_of(prove_powerless(cell_id))});
      }),
      HasSubstr("becoming root still works"));
}

TEST_F(PrivilegesTest, FindsThatAnExecCouldStillGainPrivilege) {
  EXPECT_THAT(in_child([] {
                return joined({text_of(become()), text_of(drop_all_capabilities()),
                               text_of(prove_powerless(cell_id))});
              }),
              HasSubstr("no_new_privs"));
}

TEST_F(PrivilegesTest, RefusesToStartWithoutTheTwoCapabilities) {
  EXPECT_THAT(in_child([] { return joined({text_of(give_everything_up()), text_of(become())}); }),
              HasSubstr("--user"));
}

TEST_F(PrivilegesTest, RefusesToRunAsRoot) {
  EXPECT_THAT(in_child([] { return text_of(become_daemon_user({0, 0, {}})); }),
              HasSubstr("must not run as root"));
}

TEST_F(PrivilegesTest, RefusesAnotherUserThanItWasStartedAs) {
  EXPECT_THAT(
      in_child([] {
        return joined({text_of(become()), text_of(become_daemon_user({64'002, 64'002, {}}))});
      }),
      HasSubstr("runs as uid 64001"));
}

TEST_F(PrivilegesTest, HidesItsMemory) {
  EXPECT_EQ(in_child([] {
              const auto hidden = hide_memory();
              rlimit core{1, 1};
              ::getrlimit(RLIMIT_CORE, &core);
              return text_of(hidden) + std::to_string(::prctl(PR_GET_DUMPABLE)) +
                     std::to_string(core.rlim_max);
            }),
            "00");
}

}  // namespace
}  // namespace cellblock::daemon
