#pragma once

#include "policy/config/config.h"

namespace cellblock {

/// Each server of the one has its place and name in the other, which has no more than there can be;
/// each token likewise, or is revoked there.
bool keeps_places(const Config& used, const Config& next);

}  // namespace cellblock
