#pragma once

#include "policy/base/result.h"
#include "policy/config/config.h"

namespace cellblock {

/// The configuration as the supervisor sealed it: nobody has changed it since. `sealed` stays the
/// caller's.
Result<Config> read_sealed_config(int sealed);

}  // namespace cellblock
