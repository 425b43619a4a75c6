#pragma once

#include <algorithm>

#include "policy/config/config.h"

namespace cellblock {

/// ptrace() writes another process's pages whatever their protection, so what `write_exec =
/// "refused"` says does not hold beside it. process_vm_writev() keeps to the protection.
inline bool traces_past_write_exec(const SyscallRules& rules) {
  return rules.write_exec == WriteExec::refused &&
         std::ranges::find(rules.allow, "ptrace") != rules.allow.end();
}

/// Whether code that was written at run time can be run after all: what check and status say.
inline WriteExec written_code(const SyscallRules& rules) {
  return traces_past_write_exec(rules) ? WriteExec::allowed : rules.write_exec;
}

}  // namespace cellblock
