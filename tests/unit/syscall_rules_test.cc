#include "policy/syscalls/syscall_rules.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "policy/syscalls/syscall_groups.h"
#include "policy/syscalls/syscall_refusals.h"

namespace cellblock {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

SyscallTable table_of(const SyscallRules& rules) {
  auto table = syscall_table(rules, NetworkMode::none);
  EXPECT_TRUE(table.has_value()) << (table ? "" : table.error().text);
  return table.value_or(SyscallTable{});
}

int answer(const SyscallTable& table, std::string_view name, const ArgumentWords& words = {}) {
  const SyscallAnswer* call = find_syscall(table, name);
  return call == nullptr ? ENOSYS : error_of(call->rules, call->otherwise, words);
}

std::string objection(const SyscallRules& rules) {
  const auto table = syscall_table(rules, NetworkMode::none);
  return table ? "" : table.error().text;
}

TEST(SyscallRules, AddACallThatTheProfileDoesNotHave) {
  EXPECT_EQ(answer(table_of({}), "mbind"), ENOSYS);
  EXPECT_EQ(answer(table_of({.allow = {"mbind", "ptrace"}}), "mbind"), 0);
  EXPECT_EQ(answer(table_of({.allow = {"mbind", "ptrace"}}), "ptrace"), 0);
}

TEST(SyscallRules, AddACallThatIsNewerThanTheTablesOfNames) {
  EXPECT_EQ(answer(table_of({.allow = {"listxattrat"}}), "listxattrat"), 0);
}

TEST(SyscallRules, TakeACallAway) {
  EXPECT_EQ(answer(table_of({.refuse = {"fork", "socketpair"}}), "fork"), EPERM);
  EXPECT_EQ(answer(table_of({.refuse = {"fork", "socketpair"}}), "socketpair", {1, 1, 0}), EPERM);
  EXPECT_EQ(answer(table_of({.refuse = {"mbind"}}), "mbind"), EPERM);
}

// A lease on a shared file keeps the host's open(2) waiting for as long as lease-break-time.
TEST(SyscallRules, LetNoCellTakeALease) {
  constexpr std::uint64_t descriptor = 3;
  EXPECT_EQ(answer(table_of({}), "fcntl", {descriptor, F_SETLEASE, F_WRLCK}), EINVAL);
  EXPECT_EQ(answer(table_of({}), "fcntl", {descriptor, F_GETLEASE}), 0);
  EXPECT_EQ(answer(table_of({}), "fcntl", {descriptor, F_OFD_SETLK}), 0);
}

TEST(SyscallRules, DoNotTakeAnArgumentRuleAway) {
  EXPECT_THAT(objection({.allow = {"socket"}}), HasSubstr("socket cannot be allowed: every"));
  EXPECT_THAT(objection({.allow = {"ioctl"}}), Not(IsEmpty()));
}

TEST(SyscallRules, NeverAllowWhatWouldOpenTheCell) {
  for (const char* call : {"mount", "unshare", "clone3", "io_uring_setup", "keyctl", "bpf", "setns",
                           "open_by_handle_at", "init_module", "openat2", "userfaultfd"}) {
    EXPECT_THAT(never_allowed_because(call), Not(IsEmpty())) << call;
    EXPECT_THAT(objection({.allow = {call}}), HasSubstr("cannot be allowed: ")) << call;
  }
  for (const char* call : {"mbind", "ptrace", "shmget", "setuid", "sched_setscheduler"}) {
    EXPECT_THAT(never_allowed_because(call), IsEmpty()) << call;
  }
}

TEST(SyscallRules, NeverRefuseWhatAStartNeeds) {
  EXPECT_EQ(objection({.refuse = {"execve"}}),
            "execve cannot be refused: no server could be started without it");
}

TEST(SyscallRules, SayWhatNobodyKnows) {
  EXPECT_EQ(objection({.allow = {"make_me_root"}}), "no system call is named make_me_root");
  EXPECT_EQ(objection({.refuse = {"frok"}}), "no system call is named frok");
  EXPECT_EQ(objection({.allow = {"mbind"}, .refuse = {"mbind"}}),
            "mbind is both allowed and refused");
}

TEST(SyscallRules, KnowTheNamesOfOtherArchitectures) {
  EXPECT_TRUE(is_known_call("open"));
  EXPECT_TRUE(is_known_call("openat"));
  EXPECT_TRUE(is_known_call("mseal"));
  EXPECT_FALSE(is_known_call(""));
}

constexpr ArgumentWords protection(std::uint32_t bits) { return {0, 0, bits}; }
constexpr std::uint32_t write_and_execute = 2 | 4;

TEST(WriteExecRules, RefuseMemoryThatIsOrBecomesCode) {
  const SyscallTable table = table_of({.base = SyscallProfile::node,
                                       .name = "",
                                       .allow = {},
                                       .refuse = {},
                                       .write_exec = WriteExec::refused});
  EXPECT_EQ(answer(table, "mmap", protection(write_and_execute)), EACCES);
  EXPECT_EQ(answer(table, "mmap", protection(1 | 4)), 0);
  EXPECT_EQ(answer(table, "mmap", protection(1 | 2)), 0);
  EXPECT_EQ(answer(table, "mprotect", protection(1 | 4)), EACCES);
  EXPECT_EQ(answer(table, "mprotect", protection(1 | 2)), 0);
  EXPECT_EQ(answer(table, "pkey_mprotect", protection(4)), EACCES);
  EXPECT_EQ(answer(table, "memfd_create"), EACCES);
}

TEST(WriteExecRules, HoldForACallThatTheAdminAdded) {
  SyscallRules rules{.allow = {"shmat", "pkey_mprotect"}};
  rules.write_exec = WriteExec::refused;
  EXPECT_EQ(answer(table_of(rules), "shmat", protection(0100000)), EACCES);
  EXPECT_EQ(answer(table_of(rules), "shmat"), 0);
  EXPECT_EQ(answer(table_of(rules), "pkey_mprotect", protection(4)), EACCES);
}

TEST(WriteExecRules, CannotBeGotRoundByAllowingMemoryFiles) {
  SyscallRules rules{.allow = {"memfd_create"}};
  EXPECT_THAT(objection(rules), IsEmpty());
  rules.write_exec = WriteExec::refused;
  EXPECT_THAT(objection(rules), HasSubstr("while write_exec = \"refused\""));
}

TEST(WriteExecRules, ChangeNothingWhereItIsAllowed) {
  EXPECT_EQ(answer(table_of({}), "mmap", protection(write_and_execute)), 0);
}

}  // namespace
}  // namespace cellblock
