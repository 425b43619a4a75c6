#pragma once

#include "supervisor/probe/attempt.h"

namespace cellblock::probe {

/// Every attempt, in the order in which they are listed and run: the fatal ones last.
std::span<const AttemptGroup> attempt_groups();

}  // namespace cellblock::probe
