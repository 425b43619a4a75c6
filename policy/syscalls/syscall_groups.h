#pragma once

#include "policy/config/config.h"
#include "policy/syscalls/syscall_policy.h"

/// Which groups of system calls a server has. Everything returned is in static storage.
namespace cellblock {

/// A server with this profile. Host networking changes which sockets there are.
SyscallPolicy syscall_policy(SyscallProfile profile, NetworkMode network);

/// The supervisor once it has given everything up, and what it starts then: the reload that SIGHUP
/// asks for, and the commands that print secrets for it. What an ordinary program makes, and the
/// two steps into the namespaces of a reload.
SyscallPolicy supervisor_syscall_policy();

}  // namespace cellblock
