#pragma once

#include <linux/filter.h>

#include <vector>

#include "policy/internal_syscalls.h"
#include "policy/result.h"
#include "policy/syscall_groups.h"

/// Policies become programs for the kernel here, in the launcher, once per policy (about 1.5 ms
/// each) and never between a clone and an exec: a child only hands the finished bytes to
/// seccomp(2).
namespace cellblock::launcher {

using cellblock::InternalProfile;

/// Needs no_new_privs. A server's filter answers a call through a foreign ABI with
/// SECCOMP_RET_USER_NOTIF: load it with SECCOMP_FILTER_FLAG_NEW_LISTENER. Without a listener such a
/// call fails with ENOSYS; it is never made.
struct FilterProgram {
  std::vector<sock_filter> instructions;
};

/// Fails when a policy names a call that nobody here knows, or does not fit into a program.
Result<FilterProgram> compile_filter(const SyscallPolicy& policy);

Result<FilterProgram> compile_filter(SyscallProfile profile, NetworkMode network);
Result<FilterProgram> compile_filter(InternalProfile profile);

}  // namespace cellblock::launcher
