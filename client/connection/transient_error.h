#pragma once

#include "cellblock/error.h"

namespace cellblock::client {

/// Whether the same may go well later, with nobody having done anything about it.
bool may_pass(ErrorCode code);

}  // namespace cellblock::client
