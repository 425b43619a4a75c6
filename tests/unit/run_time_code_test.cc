#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/sandbox/weakenings.h"
#include "policy/syscalls/syscall_policy.h"

namespace cellblock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Cgroup everything{.directory = "/x", .memory = true, .pids = true, .cpu = true, .io = true};

Server server_that_allows(const char* call) {
  Server server;
  server.syscalls.name = "mine";
  server.syscalls.allow = {call};
  server.syscalls.write_exec = WriteExec::refused;
  return server;
}

TEST(WrittenCode, IsSaidToRunWhereTracingWritesPastTheProtection) {
  const Server server = server_that_allows("ptrace");
  EXPECT_EQ(written_code(server.syscalls), WriteExec::allowed);
  EXPECT_THAT(weakenings_of(server, everything),
              ElementsAre(HasSubstr("with ptrace code can be written at run time")));
}

TEST(WrittenCode, IsRefusedBesideCallsThatKeepToTheProtection) {
  const Server server = server_that_allows("process_vm_writev");
  EXPECT_EQ(written_code(server.syscalls), WriteExec::refused);
  EXPECT_THAT(weakenings_of(server, everything),
              ElementsAre("profile = \"mine\" (allows process_vm_writev)"));
}

TEST(Weakenings, SayWhatTheUserOfRunAsCanDoToTheServer) {
  Server server;
  server.syscalls.write_exec = WriteExec::refused;
  server.run_as.kind = RunAsKind::client;
  EXPECT_THAT(weakenings_of(server, everything),
              ElementsAre(HasSubstr("can signal it and, with --user, read its memory")));
}

}  // namespace
}  // namespace cellblock
