#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/handover/supervisor_record.h"
#include "supervisor/process/confinement.h"
#include "supervisor/process/spawn.h"

namespace cellblock::daemon {
namespace {

SupervisorRecord full() {
  SupervisorRecord record{.launcher = 4711,
                          .notify_socket = "@notify",
                          .watchdog_us = 60'000'000,
                          .mcp = {"/run/mcp.sock", 23, 42},
                          .http = {"/run/http.sock", 23, 43},
                          .metrics = {},
                          .current_audit_file = 1};
  record.audit_since = {0, 1'700'000'000};
  return record;
}

std::string text_of(const Fd& sealed) {
  const auto bytes = read_all(sealed.get(), 1U << 16, Sealing::must_be_sealed).value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<SupervisorRecord> read_back(std::string_view text) {
  const Fd sealed = make_sealed("test", std::as_bytes(std::span(text))).value();
  return read_supervisor_record(sealed.get());
}

TEST(SupervisorRecord, ComesAsItWasLeft) {
  const auto read = read_supervisor_record(seal(full())->get());
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->launcher, 4711);
  EXPECT_EQ(read->notify_socket, "@notify");
  EXPECT_EQ(read->watchdog_us, 60'000'000);
  EXPECT_EQ(read->mcp.path, "/run/mcp.sock");
  EXPECT_EQ(read->mcp.inode, 42U);
  EXPECT_EQ(read->http.device, 23U);
  EXPECT_EQ(read->metrics.path, "");
  EXPECT_EQ(read->current_audit_file, 1U);
  EXPECT_THAT(read->audit_since, testing::ElementsAre(0, 1'700'000'000));
}

TEST(SupervisorRecord, IsRefusedWithANegativeWatchdog) {
  SupervisorRecord record = full();
  record.watchdog_us = 0;
  EXPECT_TRUE(read_supervisor_record(seal(record)->get()));
  record.watchdog_us = -1;
  EXPECT_FALSE(read_supervisor_record(seal(record)->get()));
}

TEST(SupervisorRecord, IsRefusedUnlessItIsWholeAndNothingComesBehind) {
  const std::string text = text_of(*seal(full()));
  ASSERT_TRUE(read_back(text));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(read_back(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(read_back(text + '\0'));
}

TEST(SupervisorRecord, IsRefusedWithoutALauncherOrACurrentFile) {
  SupervisorRecord record = full();
  record.launcher = 1;
  EXPECT_FALSE(read_supervisor_record(seal(record)->get()));
  record = full();
  record.current_audit_file = 2;
  EXPECT_FALSE(read_supervisor_record(seal(record)->get()));
  record = full();
  record.audit_since.assign(1000, 0);
  EXPECT_FALSE(read_supervisor_record(seal(record)->get())) << "more files than a log has";
}

TEST(SupervisorRecord, IsRefusedUnsealed) {
  const Fd open(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_FALSE(read_supervisor_record(open.get()));
}

// --- the exec
// -------------------------------------------------------------------------------------

/// What a child says at its descriptor 3 that has become sh(1) with 3, 4 and no more.
std::string said_by(const char* script) {
  auto words = make_pipe();
  auto other = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("KEPT", "kept", 1);  // NOLINT(concurrency-mt-unsafe)
    const auto program = open_program("/bin/sh");
    const std::array fds{words->second.get(), other->first.get()};
    if (program) static_cast<void>(become(program->get(), {"sh", "-c", script}, fds));
    ::_exit(1);
  }
  words->second.reset();
  std::string said;
  std::array<char, 256> bytes{};
  for (ssize_t count = 1; count > 0;) {
    count = ::read(words->first.get(), bytes.data(), bytes.size());
    if (count > 0) said.append(bytes.data(), static_cast<std::size_t>(count));
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return said;
}

TEST(Become, KeepsTheEnvironmentAndTheProcess) { EXPECT_EQ(said_by("echo $KEPT >&3"), "kept\n"); }

TEST(Become, PassesTheDescriptorsByTheirOrderAndNoOther) {
  EXPECT_EQ(
      said_by("for n in 3 4 5 6 7 8 9 10 40; do [ -e /proc/$$/fd/$n ] && echo $n >&3; done; :"),
      "3\n4\n");
}

TEST(Become, SaysWhatFailed) {
  const Fd none = open_at(AT_FDCWD, "/dev/null", O_RDONLY).value();
  const pid_t child = ::fork();
  if (child == 0) {
    const SysError error = become(none.get(), {"none"}, {});
    ::_exit(std::string_view(error.call) == "execveat" ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Confinement, IsNotProvenOfAProcessThatCanGainPrivileges) {
  const auto proven = prove_confined();
  ASSERT_FALSE(proven);
  EXPECT_THAT(proven.error().text, testing::AnyOf("it has capabilities", "no_new_privs is not set",
                                                  "it is under no filter of system calls"));
}

}  // namespace
}  // namespace cellblock::daemon
