// After start-up nobody holds a capability on the host, and the launcher cannot become anybody whom
// its map does not name.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/integration/daemon.h"
#include "tests/integration/left_behind.h"

namespace cellblock::harness {
namespace {

constexpr std::string_view no_capabilities = "0000000000000000";
constexpr std::string_view sets[] = {"CapInh", "CapPrm", "CapEff", "CapAmb"};

std::string user_namespace(int pid) {
  return std::filesystem::read_symlink(fmt::format("/proc/{}/ns/user", pid));
}

std::string pid_namespace(int pid) {
  return std::filesystem::read_symlink(fmt::format("/proc/{}/ns/pid", pid));
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Privilege : public testing::TestWithParam<Mode> {
 protected:
  Privilege() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: it looks into other users' processes";
    daemon_.start(
        {.servers = server_of_build(daemon_, "echo", "echo_server") + http_table(daemon_)});
    if (HasFatalFailure()) return;
    host_.emplace(daemon_.connect());
    host_->open_session("echo");
    everybody_ = lasting_descendants_of(daemon_.pid());
    everybody_.insert(everybody_.begin(), daemon_.pid());
  }

  int launcher() const { return daemon_.processes_named("cellblock-launcher").at(0); }

  Daemon daemon_;
  std::optional<Host> host_;
  std::vector<int> everybody_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Privilege,
                         testing::Values(Mode::system, Mode::user, Mode::user_with_subordinates),
                         name_of_mode);

TEST_P(Privilege, NoProcessHoldsACapabilityOnTheHost) {
  const std::string host_namespace = user_namespace(::getpid());
  ASSERT_GE(everybody_.size(), 6U) << "supervisor, launcher, audit writer, HTTP, gateway, server";
  for (const int pid : everybody_) {
    // Inside another user namespace a capability means nothing on the host.
    if (user_namespace(pid) != host_namespace) continue;
    for (const std::string_view set : sets) {
      EXPECT_EQ(status_field(pid, std::string(set)), no_capabilities)
          << set << " of " << pid << " " << command_line(pid);
    }
  }
}

TEST_P(Privilege, NoProcessRunsAsRootOnTheHost) {
  for (const int pid : everybody_) {
    EXPECT_THAT(status_field(pid, "Uid"), testing::Not(testing::HasSubstr("0\t0"))) << pid;
    EXPECT_THAT(status_field(pid, "Gid"), testing::Not(testing::HasSubstr("0\t0"))) << pid;
  }
}

TEST_P(Privilege, OnlyTheLauncherHoldsCapabilitiesAndOnlyInItsOwnUserNamespace) {
  for (const int pid : everybody_) {
    const bool is_launcher = pid == launcher();
    EXPECT_EQ(status_field(pid, "CapEff") != no_capabilities, is_launcher)
        << pid << " " << command_line(pid) << status_field(pid, "CapEff");
  }
  EXPECT_NE(user_namespace(launcher()), user_namespace(::getpid()));
}

TEST_P(Privilege, NobodyCanGainPrivilegeByExec) {
  for (const int pid : everybody_) {
    EXPECT_EQ(status_field(pid, "NoNewPrivs"), "1") << pid << " " << command_line(pid);
  }
}

// What is dumpable belongs in /proc to its own user. With fs.suid_dumpable = 0 a change of ids is
// enough for that.
TEST_P(Privilege, InitAndGuardianCannotBeLookedInto) {
  std::size_t seen = 0;
  for (const int pid : everybody_) {
    const std::string name = status_field(pid, "Name");
    if (name != "cellblock-init" && name != "cellblock-guard") continue;
    struct stat memory{};
    ASSERT_EQ(::stat(fmt::format("/proc/{}/mem", pid).c_str(), &memory), 0);
    EXPECT_EQ(memory.st_uid, 0U) << pid << " " << name;
    ++seen;
  }
  EXPECT_GE(seen, 8U) << "of the audit writer, HTTP, the gateway and the server";
}

TEST_P(Privilege, EveryServerIsUnderAFilter) {
  const std::vector<int> servers = daemon_.processes_named("echo_server");
  ASSERT_EQ(servers.size(), 1U);
  EXPECT_EQ(status_field(servers[0], "Seccomp"), "2");
}

TEST_P(Privilege, WhoeverParsesHttpIsUnderAFilterInANamespaceOfItsOwn) {
  const std::vector<int> helpers = daemon_.processes_named("cellblock-http");
  ASSERT_EQ(helpers.size(), 1U);
  EXPECT_EQ(status_field(helpers[0], "Seccomp"), "2");
  EXPECT_EQ(status_field(helpers[0], "CapBnd"), no_capabilities);
  EXPECT_NE(user_namespace(helpers[0]), user_namespace(::getpid()));
  EXPECT_NE(user_namespace(helpers[0]), user_namespace(launcher()));
}

TEST_P(Privilege, WhoeverParsesHttpHasAnIdThatNobodyElseHas) {
  if (GetParam() == Mode::user) GTEST_SKIP() << "without subordinate ids all run as the user";
  const int helper = daemon_.processes_named("cellblock-http").at(0);
  const std::string own = status_field(helper, "Uid");
  for (const char* name : {"cellblock-supervisor", "cellblock-launcher", "cellblock-audit",
                           "cellblock-gateway", "echo_server"}) {
    for (const int other : daemon_.processes_named(name)) {
      if (pid_namespace(other) == pid_namespace(helper)) continue;  // of its own cell
      EXPECT_NE(status_field(other, "Uid"), own) << name;
    }
  }
}

// --- what the launcher can become ----------------------------------------------------------------

enum class Outcome : int { became = 0, invalid = 1, not_permitted = 2, other = 3 };

Outcome outcome_of(bool done) {
  if (done) return Outcome::became;
  if (errno == EINVAL) return Outcome::invalid;
  return errno == EPERM ? Outcome::not_permitted : Outcome::other;
}

/// What setresuid gives a process with every capability in the launcher's user namespace: more than
/// the launcher itself holds. Entering needs the launcher's own uid there, as setns(2) says.
Outcome become_inside_namespace_of(int pid, uid_t uid) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Fd target(::open(fmt::format("/proc/{}/ns/user", pid).c_str(), O_RDONLY | O_CLOEXEC));
    if (::setns(target.get(), CLONE_NEWUSER) != 0) ::_exit(99);
    ::_exit(static_cast<int>(outcome_of(::setresuid(uid, uid, uid) == 0)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) < 4 ? static_cast<Outcome>(WEXITSTATUS(status))
                                                      : Outcome::other;
}

TEST_P(Privilege, TheLauncherCannotBecomeRootOrAnIdOutsideItsMap) {
  const int pid = launcher();
  for (const uid_t uid : {0U, 1U, 33U, 1000U, 60000U, 199999U}) {
    EXPECT_EQ(become_inside_namespace_of(pid, uid), Outcome::invalid) << uid;
  }
}

TEST_P(Privilege, TheLaunchersMapNamesTheDaemonsIdAndTheServersRangeOnly) {
  const std::string map = contents_of(fmt::format("/proc/{}/uid_map", launcher()));
  std::istringstream lines(map);
  const uid_t own = GetParam() == Mode::system ? daemon_uid : daemon_.user().uid;
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  while (lines >> inside >> outside >> count) {
    const bool is_own = outside == own && count == 1;
    EXPECT_TRUE(is_own || outside >= 200000) << map;
  }
}

}  // namespace
}  // namespace cellblock::harness
