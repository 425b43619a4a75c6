#pragma once

#include "policy/config/config.h"
#include "policy/syscalls/syscall_policy.h"

/// Which groups of system calls a server has. Everything returned is in static storage.
namespace cellblock {

/// A server with this profile. Host networking changes which sockets there are.
SyscallPolicy syscall_policy(SyscallProfile profile, NetworkMode network);

}  // namespace cellblock
