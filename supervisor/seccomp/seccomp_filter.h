#pragma once

#include <linux/filter.h>

#include <memory>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/syscalls/internal_syscalls.h"
#include "policy/syscalls/syscall_table.h"
#include "supervisor/seccomp/denied_call_errno.h"

/// Policies become programs for the kernel here, in the launcher and the supervisor, once per
/// policy (about 1.5 ms each) and never between a clone and an exec: a child only hands the
/// finished bytes to seccomp(2).
namespace cellblock {

/// Needs no_new_privs. A server's filter answers calls through a foreign ABI, and refusals that are
/// reported, with SECCOMP_RET_USER_NOTIF: load it with SECCOMP_FILTER_FLAG_NEW_LISTENER. Without a
/// listener such a call fails with ENOSYS; it is never made.
struct FilterProgram {
  std::vector<sock_filter> instructions;
  DeniedCallErrnos refusals;  ///< what the listener answers
};

/// Fails when a table names an unknown call, or does not fit into a program.
Result<FilterProgram> compile_filter(const SyscallTable& table);
Result<FilterProgram> compile_filter(InternalProfile profile);

/// Fails as syscall_table (syscall_rules.h) does, too.
Result<FilterProgram> compile_filter(const SyscallRules& rules, NetworkMode network);

/// One program for each distinct policy: servers with the same policy share it. Not thread-safe.
class FilterCache {
 public:
  Result<std::shared_ptr<const FilterProgram>> filter_for(const SyscallRules& rules,
                                                          NetworkMode network);
  std::size_t size() const { return compiled_.size(); }

 private:
  struct Compiled {
    SyscallRules rules;  ///< without its name, which asks for nothing
    NetworkMode network = NetworkMode::none;
    std::shared_ptr<const FilterProgram> filter;
  };

  std::vector<Compiled> compiled_;
};

}  // namespace cellblock
