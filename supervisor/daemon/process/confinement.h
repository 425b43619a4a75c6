#pragma once

#include "policy/base/result.h"

namespace cellblock::daemon {

/// That this process has no capability, gains none by what it executes, and is under a filter of
/// system calls: what cellblockd has given up before it became another program. An error else.
Result<void> prove_confined();

}  // namespace cellblock::daemon
