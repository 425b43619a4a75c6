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

/// The calls that `config` gives to any server.
GrantedCalls granted_calls(const Config& config);

/// All calls but the refused ones. A refusal is a notification without a listener, so the call
/// fails with ENOSYS. A cell's own filter is newer and wins against it: its errno has the higher
/// precedence, and among two notifications the newest filter's is taken. So a server gets the
/// answer of its own filter.
SyscallTable launcher_syscall_table(const GrantedCalls& granted);

}  // namespace cellblock
