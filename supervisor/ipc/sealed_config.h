#pragma once

#include "policy/base/result.h"
#include "policy/config/config.h"

namespace cellblock {

/// Reads the configuration that the supervisor sealed, and checks that it is sealed. `sealed` stays
/// the caller's.
Result<Config> read_sealed_config(int sealed);

}  // namespace cellblock
