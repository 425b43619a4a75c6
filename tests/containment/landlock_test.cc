// Landlock alone: no mount namespace, no filter, no user of its own. What the other layers would
// refuse as well is refused here by this one; each attempt is made once without it, and succeeds.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "supervisor/launcher/child/child_exec.h"
#include "supervisor/os/sys.h"
#include "tests/containment/child_process.h"
#include "tests/containment/launcher_process.h"
#include "tests/integration/test_directory.h"

namespace cellblock::containment {
namespace {

using launcher::BindKind;
using launcher::EntryKind;
using launcher::LandlockRuleset;
using launcher::RootEntry;
using Attempt = std::function<bool()>;

// The places that a ruleset names by itself and that are not the same on every machine.
bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string answer_of(const LandlockRuleset& ruleset, const Attempt& attempt) {
  const ChildResult result = run_child_process([&](int output) {
    launcher::ChildPlan plan;
    plan.landlock = &ruleset;
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || !launcher::enter_landlock(plan)) {
      ::dprintf(output, "not entered: %s", ::strerrorname_np(errno));
      return 0;
    }
    ::dprintf(output, "%s", attempt() ? "allowed" : ::strerrorname_np(errno));
    return 0;
  });
  return result.end == "exit 0" ? result.output : result.end;
}

class Landlock : public testing::Test {
 protected:
  Landlock() : directory_(::geteuid()) {
    for (const char* name : {"written", "written/inner", "read", "run"}) {
      directory_.make_directory(name, 0700);
    }
    file_ = directory_.write("read/file", "text", 0600);
    written_file_ = directory_.write("written/file", "text", 0600);
  }

  void SetUp() override {
    if (landlock_here() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  }

  /// A server with this test's directories, seen at the paths that they have outside.
  LandlockRuleset ruleset_of(const Server& server) const {
    std::vector<RootEntry> entries;
    const auto add = [&](const char* name, BindKind kind) {
      entries.push_back({EntryKind::bind, directory_.path(name), directory_.path(name), kind, 0});
    };
    add("read", BindKind::read);
    add("written", server.execute_writable ? BindKind::write_execute : BindKind::write);
    entries.push_back({EntryKind::bind, "/usr", "/usr", BindKind::read, -1});
    LandlockRuleset ruleset = launcher::landlock_ruleset(landlock_here(), server, entries);
    std::erase_if(ruleset.paths, [&](const auto& rule) {
      // Above the test's directories, which it would open as well.
      return rule.path == "/tmp" || !is_there(rule.path);
    });
    return ruleset;
  }

  void expect_refused(const Attempt& attempt, const char* error, const Server& server = {}) const {
    ASSERT_EQ(answer_of({}, attempt), "allowed") << "without Landlock";
    EXPECT_EQ(answer_of(ruleset_of(server), attempt), error);
  }
  /// Of the gateway, whose home is "written".
  LandlockRuleset ruleset_of_gateway() const {
    LandlockRuleset ruleset = launcher::own_landlock_ruleset(landlock_here(), {});
    launcher::permit_cache(ruleset);
    for (auto& rule : ruleset.paths) {
      if (rule.path == launcher::home_directory) rule.path = directory_.path("written");
    }
    return ruleset;
  }

  void expect_allowed(const Attempt& attempt, const Server& server = {}) const {
    EXPECT_EQ(answer_of(ruleset_of(server), attempt), "allowed");
  }

  harness::TestDirectory directory_;
  std::string file_;
  std::string written_file_;
};

bool open_file(const std::string& path, int flags) {
  return Fd(::open(path.c_str(), flags | O_CLOEXEC, 0600)).valid();
}

// --- files ---------------------------------------------------------------------------------------

TEST_F(Landlock, RefusesToWriteOutsideOfWhatMayBeWritten) {
  const std::string there = directory_.path("read/new");
  expect_refused([&] { return open_file(there, O_WRONLY | O_CREAT); }, "EACCES");
  expect_refused([&] { return open_file(file_, O_WRONLY); }, "EACCES");
  // Undone again, so that there is something to do in the second attempt.
  const std::string node = there + "2";
  expect_refused([&] { return ::mkdir(node.c_str(), 0700) == 0 && ::rmdir(node.c_str()) == 0; },
                 "EACCES");
  expect_refused([&] { return ::symlink("x", node.c_str()) == 0 && ::unlink(node.c_str()) == 0; },
                 "EACCES");
  const std::string here = directory_.path("written/new");
  expect_allowed([&] { return open_file(here, O_WRONLY | O_CREAT); });
}

TEST_F(Landlock, LetsAGatewayMakeReplaceAndRemoveFilesOfItsCacheAndNothingElse) {
  const LandlockRuleset gateway = ruleset_of_gateway();
  const std::string made = directory_.path("written/made");
  const std::string kept = directory_.path("written/kept");
  const auto replace = [&] {
    return open_file(made, O_WRONLY | O_CREAT | O_EXCL) &&
           ::rename(made.c_str(), kept.c_str()) == 0 && open_file(kept, O_RDONLY) &&
           ::unlink(kept.c_str()) == 0;
  };
  EXPECT_EQ(answer_of(gateway, replace), "allowed");
  const auto pair = [&](const Attempt& attempt) {
    ASSERT_EQ(answer_of({}, attempt), "allowed") << "without Landlock";
    EXPECT_EQ(answer_of(gateway, attempt), "EACCES");
  };
  pair([&] { return ::mkdir(made.c_str(), 0700) == 0 && ::rmdir(made.c_str()) == 0; });
  pair([&] { return ::symlink("x", made.c_str()) == 0 && ::unlink(made.c_str()) == 0; });
  pair([&] { return ::mkfifo(made.c_str(), 0600) == 0 && ::unlink(made.c_str()) == 0; });
  const std::string elsewhere = directory_.path("read/new");
  pair([&] {
    return open_file(elsewhere, O_WRONLY | O_CREAT | O_EXCL) && ::unlink(elsewhere.c_str()) == 0;
  });
  pair([&] { return open_file(file_, O_RDONLY); });
}

TEST_F(Landlock, RefusesToTruncateOutsideOfWhatMayBeWritten) {
  if (landlock_here() < 3) GTEST_SKIP() << "Landlock ABI below 3: truncating cannot be refused";
  expect_refused([&] { return ::truncate(file_.c_str(), 0) == 0; }, "EACCES");
  expect_allowed([&] { return ::truncate(written_file_.c_str(), 0) == 0; });
}

TEST_F(Landlock, RefusesToRemoveWhatMayOnlyBeRead) {
  const std::string victim = directory_.write("read/victim", "", 0600);
  expect_refused(
      [&] {
        // Put back, so that there is something to remove in the second attempt.
        return ::unlink(victim.c_str()) == 0 && open_file(victim, O_WRONLY | O_CREAT);
      },
      "EACCES");
}

TEST_F(Landlock, RefusesToMoveAFileToWhereItCouldDoMore) {
  const std::string from = directory_.path("written/file");
  const std::string to = directory_.path("run/file");
  const auto there_and_back = [&] {
    return ::rename(from.c_str(), to.c_str()) == 0 && ::rename(to.c_str(), from.c_str()) == 0;
  };
  ASSERT_EQ(answer_of({}, there_and_back), "allowed");
  EXPECT_EQ(answer_of(ruleset_of({}), there_and_back), "EACCES");
}

TEST_F(Landlock, RefusesToLinkAReadableFileIntoWhatMayBeWritten) {
  const std::string link = directory_.path("written/link");
  expect_refused(
      [&] { return ::link(file_.c_str(), link.c_str()) == 0 && ::unlink(link.c_str()) == 0; },
      "EXDEV");
}

TEST_F(Landlock, LetsFilesMoveBetweenDirectoriesThatMayBeWritten) {
  if (landlock_here() < 2) GTEST_SKIP() << "Landlock ABI 1 never lets a file change its directory";
  const std::string to = directory_.path("written/inner/file");
  expect_allowed([&] { return ::rename(written_file_.c_str(), to.c_str()) == 0; });
}

TEST_F(Landlock, RefusesToMakeASocketOrADevice) {
  const std::string node = directory_.path("written/node");
  expect_refused(
      [&] { return ::mknod(node.c_str(), S_IFSOCK | 0600, 0) == 0 && ::unlink(node.c_str()) == 0; },
      "EACCES");
  if (::geteuid() != 0) return;
  expect_refused(
      [&] {
        return ::mknod(node.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0 &&
               ::unlink(node.c_str()) == 0;
      },
      "EACCES");
}

bool run(const std::string& program) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(errno);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  errno = WEXITSTATUS(status);
  return status == 0;
}

TEST_F(Landlock, RefusesToRunAFileThatTheServerCouldHaveWrittenUnlessThatIsDeclared) {
  const std::string program = directory_.path("written/true");
  ASSERT_EQ(::system(("cp /bin/true " + program).c_str()), 0);  // NOLINT
  expect_refused([&] { return run(program); }, "EACCES");
  Server weaker;
  weaker.execute_writable = true;
  expect_allowed([&] { return run(program); }, weaker);
}

// A link in a directory that a server writes, where a declared path leads through.
TEST_F(Landlock, IsNotEnteredThroughALink) {
  LandlockRuleset ruleset = ruleset_of({});
  ASSERT_EQ(::symlink("/usr", directory_.path("written/link").c_str()), 0);
  ruleset.paths.push_back({directory_.path("written/link"), ruleset.files});
  EXPECT_EQ(answer_of(ruleset, [] { return true; }), "not entered: ELOOP");
}

TEST_F(Landlock, IsNotEnteredWhenAPlaceIsMissing) {
  LandlockRuleset ruleset = ruleset_of({});
  ruleset.paths.push_back({"/nowhere/at/all", ruleset.files});
  EXPECT_EQ(answer_of(ruleset, [] { return true; }), "not entered: ENOENT");
}

TEST_F(Landlock, IsNothingWhereTheKernelHasNone) {
  const LandlockRuleset none = launcher::landlock_ruleset(0, {}, {});
  EXPECT_EQ(answer_of(none, [&] { return open_file(file_, O_WRONLY); }), "allowed");
}

// --- network -------------------------------------------------------------------------------------

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

bool bind_tcp() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in any = loopback(0);
  return socket.valid() &&
         ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
}

bool connect_tcp(const sockaddr_in& to) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket.valid() &&
         ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

class LandlockTcp : public Landlock {
 protected:
  void SetUp() override {
    Landlock::SetUp();
    if (IsSkipped()) return;
    if (landlock_here() < 4) GTEST_SKIP() << "Landlock ABI below 4: no rules for TCP";
    listener_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    address_ = loopback(0);
    socklen_t size = sizeof address_;
    auto* address = reinterpret_cast<sockaddr*>(&address_);
    ASSERT_EQ(::bind(listener_.get(), address, size), 0);
    ASSERT_EQ(::listen(listener_.get(), 16), 0);
    ASSERT_EQ(::getsockname(listener_.get(), address, &size), 0);
  }

  Fd listener_;
  sockaddr_in address_{};
};

TEST_F(LandlockTcp, RefusesToConnectAndToListenWithoutANetwork) {
  expect_refused([&] { return connect_tcp(address_); }, "EACCES");
  expect_refused(bind_tcp, "EACCES");
}

TEST_F(LandlockTcp, PermitsWithEgressOnlyToConnectAndOnlyToItsPorts) {
  Server server;
  server.network = NetworkMode::egress;
  expect_refused([&] { return connect_tcp(address_); }, "EACCES", server);
  server.egress.allow = {{.host = "example.org", .port = ntohs(address_.sin_port)}};
  expect_allowed([&] { return connect_tcp(address_); }, server);
  expect_refused(bind_tcp, "EACCES", server);
}

TEST_F(LandlockTcp, LeavesADeclaredLoopbackAlone) {
  Server server;
  server.network = NetworkMode::loopback;
  expect_allowed([&] { return connect_tcp(address_); }, server);
  expect_allowed(bind_tcp, server);
}

bool send_udp(const sockaddr_in& to) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return socket.valid() &&
         ::sendto(socket.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 1;
}

TEST_F(LandlockTcp, RefusesToSendDatagramsWhereTheKernelKnowsThem) {
  if (landlock_here() < 10) GTEST_SKIP() << "Landlock ABI below 10: no rules for UDP";
  expect_refused([&] { return send_udp(loopback(9)); }, "EACCES");
  Server server;
  server.network = NetworkMode::egress;
  expect_allowed([&] { return send_udp(loopback(53)); }, server);
}

// --- scopes --------------------------------------------------------------------------------------

class LandlockScope : public Landlock {
 protected:
  void SetUp() override {
    Landlock::SetUp();
    if (IsSkipped()) return;
    if (landlock_here() < 6) GTEST_SKIP() << "Landlock ABI below 6: no scopes";
  }
};

TEST_F(LandlockScope, RefusesToSignalAProcessOutside) {
  const pid_t parent = ::getpid();
  expect_refused([&] { return ::kill(parent, 0) == 0; }, "EPERM");
  expect_allowed([] { return ::kill(::getpid(), 0) == 0; });
}

TEST_F(LandlockScope, RefusesToConnectToAnAbstractSocketOutside) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "cellblock-landlock-" + std::to_string(::getpid());
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  expect_refused(
      [&] {
        const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return socket.valid() &&
               ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0;
      },
      "EPERM");
}

TEST_F(LandlockScope, LetsTheParentOutsideSignalTheProcess) {
  const LandlockRuleset ruleset = ruleset_of({});
  auto entered = make_pipe();
  ASSERT_TRUE(entered.has_value());
  const pid_t child = ::fork();
  if (child == 0) {
    launcher::ChildPlan plan;
    plan.landlock = &ruleset;
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!launcher::enter_landlock(plan) || ::write(entered->second.get(), "e", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(entered->first.get(), &byte, 1), 1);
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

}  // namespace
}  // namespace cellblock::containment
