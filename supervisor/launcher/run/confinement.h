#pragma once

#include "policy/base/result.h"
#include "policy/config/config.h"

namespace cellblock::launcher {

/// RLIMIT_DATA, and what the launcher gives up before it prepares anything, for itself and every
/// process that it starts: the system calls that neither it nor the set-up of a cell makes, and the
/// capabilities over its own user namespace that it does not use. It must have entered that, with
/// no_new_privs. A cell's own user namespace has a full set again, which its set-up drops.
Result<void> confine(const Config& config);

}  // namespace cellblock::launcher
