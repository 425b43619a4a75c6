#pragma once

#include "policy/base/result.h"

namespace cellblock::daemon {

/// Proves that this process has no capability, no_new_privs set, and a filter of system calls: the
/// privileges that cellblockd gives up before its exec. An error: one of these is missing.
Result<void> prove_confined();

}  // namespace cellblock::daemon
