#pragma once

#include "policy/config/config.h"
#include "policy/reload/difference.h"

namespace cellblock {

/// What is left of a reload that takes the rest: `next` is merged, and is changed so that nothing
/// of it waits for a restart but what refuses the whole.
Difference partial_difference(const Config& used, Config& next);

}  // namespace cellblock
