#pragma once

#include <set>
#include <string>

#include "policy/syscalls/syscall_table.h"

/// What the launcher is refused. Every process that it starts inherits that, below a filter of its
/// own.
namespace cellblock {

/// System calls that a profile may give a server, and that neither the launcher nor the set-up of a
/// cell makes.
using GrantedCalls = std::set<std::string, std::less<>>;

/// Those that `config` gives some server.
GrantedCalls granted_calls(const Config& config);

/// All calls but those that are refused. A refusal is a notification to which nobody listens, so
/// the call fails with ENOSYS. A cell's own filter is newer and wins against it: with an errno,
/// since that has the higher precedence, and with a notification of its own, since among equals the
/// newest filter is taken. So a server is told what its own filter says.
SyscallTable launcher_syscall_table(const GrantedCalls& granted);

}  // namespace cellblock
