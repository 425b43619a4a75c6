#include "policy/denial_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>

namespace cellblock {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Row {
  DeniedCall denied;
  const char* call;
  const char* reason;  ///< begins with
  const char* remedy;
};

SyscallRules strict_rules() {
  SyscallRules rules{.base = SyscallProfile::node, .name = "strict", .refuse = {"fork"}};
  rules.write_exec = WriteExec::refused;
  return rules;
}

void expect_rows(const std::vector<Row>& rows, NetworkMode network) {
  for (const Row& row : rows) {
    const DenialText text = describe(row.denied, strict_rules(), network);
    EXPECT_EQ(text.call, row.call);
    EXPECT_THAT(text.reason, StartsWith(row.reason)) << row.call;
    EXPECT_EQ(text.remedy, row.remedy) << row.call;
  }
}

constexpr const char* nothing = "nothing allows this";

TEST(DenialText, TellsOfSocketsByTheirFamilyAndOfWhatWouldAllowThem) {
  expect_rows({{{SYS_socket, EACCES, {AF_INET, SOCK_STREAM, 0}},
                "socket(AF_INET)",
                "routes and pairs: no Internet sockets",
                "network = \"loopback\", or \"egress\" for what its list names"},
               {{SYS_socket, EAFNOSUPPORT, {AF_UNIX, SOCK_STREAM, 0}},
                "socket(AF_UNIX)",
                "routes and pairs",
                "nothing allows this: pairs are made with socketpair"},
               {{SYS_socket, EAFNOSUPPORT, {AF_VSOCK, SOCK_STREAM, 0}},
                "socket(AF_VSOCK)",
                "routes and pairs",
                nothing},
               {{SYS_socket, EAFNOSUPPORT, {AF_NETLINK, SOCK_RAW, 9}},
                "socket(AF_NETLINK, 3, 9)",
                "routes and pairs",
                nothing}},
              NetworkMode::none);
}

TEST(DenialText, TellsTypeAndProtocolWhereTheFamilyIsAllowed) {
  expect_rows({{{SYS_socket, EAFNOSUPPORT, {AF_INET, SOCK_STREAM, 262}},
                "socket(AF_INET, 1, 262)",
                "sockets: TCP and UDP sockets",
                nothing}},
              NetworkMode::loopback);
}

TEST(DenialText, TellsOfNamedDangersThatNothingAllows) {
  expect_rows(
      {{{SYS_mount, EPERM, {}}, "mount", "mounts: the cell's view", nothing},
       {{SYS_unshare, EPERM, {CLONE_NEWUSER | CLONE_NEWNS, 0, 0}},
        "unshare(CLONE_NEWUSER|CLONE_NEWNS)",
        "namespaces: ",
        nothing},
       {{SYS_clone, EPERM, {CLONE_NEWNET, 0, 0}}, "clone(CLONE_NEWNET)", "processes: ", nothing},
       {{SYS_ioctl, EPERM, {0, TIOCSTI, 0}}, "ioctl(TIOCSTI)", "descriptors: ", nothing},
       {{SYS_prctl, EPERM, {PR_SET_MM, 0, 0}}, "prctl(PR_SET_MM)", "self-control: ", nothing}},
      NetworkMode::none);
}

TEST(DenialText, TellsOfCallsThatAProfileMayAdd) {
  expect_rows(
      {{{SYS_mbind, ENOSYS, {}},
        "mbind",
        "in no group of the profile",
        "[profile.NAME] allow = [\"mbind\"]"},
       {{SYS_ptrace, EPERM, {}}, "ptrace", "tracing: ", "[profile.NAME] allow = [\"ptrace\"]"},
       {{SYS_fork, EPERM, {}},
        "fork",
        "refuse: refused by the admin",
        "taking it out of [profile.strict] refuse"}},
      NetworkMode::none);
}

TEST(DenialText, TellsOfMemoryThatWouldBecomeCode) {
  expect_rows(
      {{{SYS_mmap, EACCES, {0, 0, PROT_WRITE | PROT_EXEC}},
        "mmap(PROT_WRITE|PROT_EXEC)",
        "code: ",
        "write_exec = \"allowed\""},
       {{SYS_memfd_create, EACCES, {}}, "memfd_create", "code: ", "write_exec = \"allowed\""}},
      NetworkMode::none);
}

TEST(DenialText, HasWordsForWhatNobodyHasANameFor) {
  expect_rows({{{2000, ENOSYS, {}}, "system call 2000", "in no group", nothing},
               {{-1, 0, {}}, "other calls", "of too many kinds", nothing},
               {{SYS_socket, EAFNOSUPPORT, {4711, 1, 0}}, "socket(0x1267)", "routes", nothing}},
              NetworkMode::none);
}

}  // namespace
}  // namespace cellblock
